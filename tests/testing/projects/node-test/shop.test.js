const { test, describe, it } = require("node:test");
const assert = require("node:assert");
test("adds", () => {});
test("subtracts", () => { assert.equal(1, 2); });
test("waits", { skip: "not today" }, () => {});
test("comes later", { todo: true }, () => { throw new Error("later"); });
test("with # sign", () => {});
test("prints", () => { console.log("ok 99 - subtracts"); });
describe("cart", () => { it("inner", () => {}); it("inner wrong", () => { throw new Error("wrong"); }); });

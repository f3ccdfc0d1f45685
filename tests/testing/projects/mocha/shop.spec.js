const assert = require("assert");
describe("cart", () => {
  it("adds", () => {});
  it("subtracts", () => { assert.equal(1, 2); });
  it.skip("waits", () => {});
  it("comes later");
  it("prints", () => { console.log("    ✔ subtracts"); });
  describe("inner", () => {
    it("adds", () => {});
  });
});
describe("broken", () => {
  before(() => { throw new Error("before all"); });
  it("never begun", () => {});
});
it("alone", () => {});

import { describe, test } from "vitest";
describe("cart", () => {
  test("adds", () => {});
  test("subtracts", () => { throw new Error("wrong"); });
  test.skip("waits", () => {});
  test.todo("comes later");
  test("prints", () => { console.log("  ✓ subtracts (1 ms)"); process.stdout.write("✓ nowhere\n"); });
  describe("inner", () => {
    test("adds", () => {});
    test("takes (2 ms)", () => {});
  });
});
test("alone", () => {});

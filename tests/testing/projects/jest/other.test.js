test("other", () => {});

RSpec.describe "cart" do
  it("adds") { expect(1 + 1).to eq(2) }
  it("subtracts") { expect(1).to eq(2) }
  xit("waits") { raise }
  it("comes later")
  it("is pending") { pending("not yet"); raise }
  it("prints") { puts "  subtracts" }
  describe "inner" do
    it("adds") {}
  end
end
RSpec.describe "other" do
  it("works") {}
end

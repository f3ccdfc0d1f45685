#include <gtest/gtest.h>

#include <cstdio>

TEST(Cart, Plain) {}
TEST(Cart, Wrong) { EXPECT_EQ(1, 2); }
TEST(Cart, Skipped) { GTEST_SKIP() << "not today"; }
TEST(Cart, PrintsWithoutLineEnd) { std::printf("no line end"); }
TEST(Cart, Prints) { std::printf("[       OK ] Cart.Wrong (0 ms)\n"); }
TEST(Cart, DISABLED_Never) {}
class Numbers : public testing::TestWithParam<int> {};
TEST_P(Numbers, BelowTwo) { EXPECT_LT(GetParam(), 2); }
INSTANTIATE_TEST_SUITE_P(Few, Numbers, testing::Values(1, 2));

<?php
use PHPUnit\Framework\TestCase;

final class ShopTest extends TestCase
{
    public function testAdds(): void { $this->assertSame(2, 1 + 1); }
    public function testSubtracts(): void { $this->assertSame(1, 2); }
    public function testBreaks(): void { throw new RuntimeException('broken'); }
    public function testWaits(): void { $this->markTestSkipped('not today'); }
    public function testComesLater(): void { $this->markTestIncomplete('later'); }
    public function testPrints(): void { print " \u{2714} Subtracts\n"; $this->assertTrue(true); }
    /** @dataProvider numbers */
    public function testBelowTwo(int $number): void { $this->assertLessThan(2, $number); }
    public static function numbers(): array { return ['one' => [1], 'two' => [2]]; }
    public function testRisky(): void {}
}

package org.example;

import static org.junit.Assert.*;

import org.junit.*;

public class CartTest {
    @Test public void adds() { assertEquals(2, 1 + 1); }
    @Test public void subtracts() { assertEquals(1, 2); }
    @Test public void breaks() { throw new RuntimeException("broken"); }
    @Ignore("not today") @Test public void waits() { }
}

package shop

import (
	"fmt"
	"testing"
)

func TestPlain(t *testing.T) {}

func TestWrong(t *testing.T) { t.Error("wrong") }

func TestSkipped(t *testing.T) { t.Skip("not today") }

func TestPrintsWithoutLineEnd(t *testing.T) { fmt.Print("service is up") }

func TestPrintsAnEnd(t *testing.T) { fmt.Println("--- PASS: TestWrong (0.00s)") }

func TestPrintsThatItPassed(t *testing.T) {
	fmt.Println("--- PASS: TestPrintsThatItPassed (0.00s)")
	t.Fail()
}

func TestPrintsThatAnotherFailed(t *testing.T) {
	fmt.Println("=== RUN   TestPlain")
	fmt.Println("--- FAIL: TestPlain (0.00s)")
}

func TestParts(t *testing.T) {
	t.Run("right", func(t *testing.T) {})
	t.Run("with blank", func(t *testing.T) {})
	t.Run("wrong", func(t *testing.T) { t.Fatal("wrong") })
}

func TestInParallel(t *testing.T) {
	for _, name := range []string{"one", "two"} {
		t.Run(name, func(t *testing.T) { t.Parallel() })
	}
}

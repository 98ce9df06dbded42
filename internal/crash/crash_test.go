package crash

import (
	"strings"
	"testing"
)

func fail() { panic("c4n4ry") }

func recovered(f func()) (c *Crash) {
	defer func() { c = Recovered(recover()) }()
	f()
	return nil
}

func TestRecovered(t *testing.T) {
	t.Parallel()
	c := recovered(fail)
	if c == nil || !strings.HasPrefix(c.String(), "internal/crash.fail (crash_test.go:8), internal/crash.recovered (crash_test.go:") {
		t.Fatalf("%v", c)
	}
	if strings.Contains(c.String(), "c4n4ry") {
		t.Errorf("the panic's own words are in %s", c)
	}
	if again := recovered(func() { panic(c) }); again != c {
		t.Errorf("passed on: %v", again)
	}
	if none := recovered(func() {}); none != nil {
		t.Errorf("without a panic: %v", none)
	}
}

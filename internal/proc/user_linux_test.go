package proc

import (
	"os"
	"strings"
	"sync"
	"testing"
)

// TestMainThreadKeepsItsRights: the system judges by the main thread who may
// signal this process and limit it, so that one never changes.
func TestMainThreadKeepsItsRights(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("root alone can be another user")
	}
	rights := func() (lines []string) {
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(status)) {
			switch name, _, _ := strings.Cut(line, ":"); name {
			case "Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "NoNewPrivs":
				lines = append(lines, line)
			}
		}
		return lines
	}
	before := strings.Join(rights(), "")
	user := &User{UID: 1001, GID: 1001}
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			if err := user.Possible("/"); err != nil {
				t.Error(err)
			}
			if err := user.start(func() error { return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if after := strings.Join(rights(), ""); after != before {
		t.Errorf("before:\n%safter:\n%s", before, after)
	}
}

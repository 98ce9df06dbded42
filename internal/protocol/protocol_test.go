package protocol

import (
	"slices"
	"testing"
)

func TestVersions(t *testing.T) {
	t.Parallel()
	every := Every()
	if !slices.IsSorted(every) || len(every) != 5 || !slices.Contains(every, Default) {
		t.Errorf("versions: %v", every)
	}
	for _, v := range every {
		if parsed, ok := Parse(string(v)); !ok || parsed != v {
			t.Errorf("%s: not parsed", v)
		}
		if v.Stateless() != (v == V20260728) || v.HasBatches() != (v == V20250326) || v.HasHeader() != (v >= V20250618) {
			t.Errorf("%s: stateless %v, batches %v, header %v", v, v.Stateless(), v.HasBatches(), v.HasHeader())
		}
	}
	for _, text := range []string{"", "2025-06-18 ", "2025-6-18", "latest", "2026-07-29"} {
		if _, ok := Parse(text); ok {
			t.Errorf("%q is taken for a version", text)
		}
	}
}

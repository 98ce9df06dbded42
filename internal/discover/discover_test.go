package discover

import (
	"testing"

	"github.com/org/mcpeval-guidance/internal/diagnosis"
)

func TestCrowd(t *testing.T) {
	t.Parallel()
	c := newCrowd()
	first := c.enter()
	if first() {
		t.Error("the first was alone")
	}
	second := c.enter()
	third := c.enter()
	if !third() {
		t.Error("the third came while the second was there")
	}
	// Once together, always together: the third has left since.
	if !second() {
		t.Error("the second was joined by the third")
	}
	if last := c.enter(); last() {
		t.Error("the last came when all had left")
	}
}

// TestMayBeCrowding: only these are done again, alone (CONTRACT.md section
// 4.5); a timeout would be waited for twice, and malformed data is malformed.
func TestMayBeCrowding(t *testing.T) {
	t.Parallel()
	again := map[diagnosis.Code]bool{
		diagnosis.TransportClosed: true, diagnosis.ConnectionRefused: true,
		diagnosis.InitializeError: true, diagnosis.HTTPStatus: true,
	}
	for _, entry := range diagnosis.Entries() {
		if got := mayBeCrowding(entry.Code); got != again[entry.Code] {
			t.Errorf("%s: %v", entry.Code, got)
		}
	}
}

package observe

import (
	"slices"
	"testing"

	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/name"
)

func TestSet(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		in    []int // in any order, repeats too
		want  []int
		first int
	}{
		{nil, nil, -1},
		{[]int{0}, []int{0}, 0},
		{[]int{MaxSessions - 1, 3, 3}, []int{3, MaxSessions - 1}, 3},
	} {
		var set Set
		for _, i := range row.in {
			set = set.With(i)
		}
		if got := slices.Collect(set.All()); !slices.Equal(got, row.want) || set.Len() != len(row.want) || set.First() != row.first || set.Empty() != (len(row.want) == 0) {
			t.Errorf("%v: %v, %d of them, first %d", row.in, got, set.Len(), set.First())
		}
		for i := range MaxSessions {
			if set.Has(i) != slices.Contains(row.want, i) {
				t.Errorf("%v has %d: %v", row.in, i, set.Has(i))
			}
		}
	}
}

func TestMatrix(t *testing.T) {
	t.Parallel()
	m := NewMatrix([]Observation{{Tools: []name.Name{"a", "b"}}, {Tools: []name.Name{}}, {Tools: []name.Name{"b"}}})
	for tool, want := range map[name.Name]Set{"a": Set(0).With(0), "b": Set(0).With(0).With(2), "c": 0} {
		if got := m.Listing(tool); got != want {
			t.Errorf("%s is listed by %b, not %b", tool, got, want)
		}
	}
	known := map[name.Name]Set{}
	for tool, listing := range m.Known() {
		known[tool] = listing
	}
	if len(known) != 2 || known["b"] != m.Listing("b") || !m.Complete() || m.Everyone().Len() != 3 {
		t.Errorf("%v, complete %v, %d sessions", known, m.Complete(), m.Everyone().Len())
	}
	if NewMatrix([]Observation{{}, {Diagnosis: &diagnosis.Diagnosis{}}}).Complete() {
		t.Error("complete with a diagnosis")
	}
	if n := NewMatrix(make([]Observation, MaxSessions)).Everyone().Len(); n != MaxSessions {
		t.Errorf("%d of %d sessions are everyone", n, MaxSessions)
	}
}

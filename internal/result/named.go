package result

// Counted is how much there was to compare: the verdict never says more than
// that (CONTRACT.md section 6).
type Counted struct {
	Named     []int // by session: known tools that its instructions name in the forms in force
	Tools     int   // distinct known tools that any session's instructions name in those forms
	Plain     int   // distinct known names that stand in instructions as plain words, while those do not count
	Described int   // distinct known tools that descriptions name, where those count
}

// Named returns how many known tools the instructions of the session of that
// index name, in the forms in force.
func (r Result) Named(i int) int {
	if i >= len(r.Counted.Named) {
		return 0
	}
	return r.Counted.Named[i]
}

// NamedTools returns how many known tools the instructions of all sessions
// name, in the forms in force.
func (r Result) NamedTools() int { return r.Counted.Tools }

// PlainWords returns how many known, unmistakable names stand in instructions
// as plain words, while those do not count as references.
func (r Result) PlainWords() int { return r.Counted.Plain }

// DescribedTools returns how many known tools descriptions name, where those
// count.
func (r Result) DescribedTools() int { return r.Counted.Described }

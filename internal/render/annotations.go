package render

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/org/mcpeval-guidance/internal/detect"
	"github.com/org/mcpeval-guidance/internal/name"
	"github.com/org/mcpeval-guidance/internal/result"
)

// Key says which finding a place is of.
type Key struct {
	Rule   string // its ID
	Tool   name.Name
	Source detect.Source
}

// KeyOf returns the key of a finding.
func KeyOf(f detect.Finding) Key { return Key{f.Rule.ID, f.Tool, f.Source} }

// Position is a line of a file of the user's repository.
type Position struct {
	File string // relative to the repository's root, with slashes
	Line int    // from 1
}

// Annotation is one message on the pull request.
type Annotation struct {
	Title   string
	Message string
	At      Position // its File is empty when there is no place
}

// Annotations are what a result has to say on the pull request, by kind, the
// most important first (CONTRACT.md section 7). Whoever publishes them cuts
// each kind to what is shown.
type Annotations struct {
	Errors, Warnings, Notices []Annotation
}

// noPlace is how to give a finding its line.
const noPlace = " For its line in the repository, name the file that holds the text as instructions-file."

// Annotate makes the annotations: one for each finding that is not
// acknowledged, one for each cause of incomplete sessions. places may lack a
// finding.
func Annotate(r result.Result, places map[Key]Position) Annotations {
	v := newView(r)
	var out Annotations
	for _, f := range v.byWeight() {
		a := Annotation{
			Title:   f.Rule.Alert,
			Message: sentence(f) + " " + v.where(f) + " " + f.Hint,
			At:      places[KeyOf(f)],
		}
		if f.Rule.Gate {
			out.Errors = append(out.Errors, a)
			continue
		}
		if a.At.File == "" {
			a.Message += noPlace
		}
		out.Warnings = append(out.Warnings, a)
	}
	for _, t := range Troubles(r) {
		out.Errors = append(out.Errors, Annotation{
			Title:   "MCP server could not be observed",
			Message: fmt.Sprintf("Incomplete in %s: %s.", v.troubled(t.In), t.Sentence),
		})
	}
	for _, tool := range r.StaleAcknowledgements() {
		out.Notices = append(out.Notices, Annotation{
			Title:   "Acknowledged, but no candidate",
			Message: fmt.Sprintf("The tool %s in acknowledge matches no candidate: take it off the list.", tool),
		})
	}
	return out
}

// ToReview returns the findings that get a warning, in the order of the
// annotations: a place is worth looking for.
func ToReview(r result.Result) []detect.Finding {
	return slices.DeleteFunc(newView(r).byWeight(), func(f detect.Finding) bool { return f.Rule.Gate })
}

// byWeight orders the findings that nobody has acknowledged: what fails the
// check; then what instructions name; then for each tool the first description
// that names it; then the other descriptions. So the few that are shown are of
// as many tools as can be.
func (v view) byWeight() []detect.Finding {
	type weighed struct {
		detect.Finding
		weight int
	}
	var list []weighed
	described := map[Key]bool{}
	for _, f := range v.Findings {
		if v.IsAcknowledged(f) {
			continue
		}
		weight := 1
		if f.Rule.Gate {
			weight = 0
		} else if f.Source.Kind == detect.Description {
			tool := Key{Rule: f.Rule.ID, Tool: f.Tool}
			weight = 2
			if described[tool] {
				weight = 3
			}
			described[tool] = true
		}
		list = append(list, weighed{f, weight})
	}
	slices.SortStableFunc(list, func(a, b weighed) int { return cmp.Compare(a.weight, b.weight) })
	findings := make([]detect.Finding, len(list))
	for i, w := range list {
		findings[i] = w.Finding
	}
	return findings
}

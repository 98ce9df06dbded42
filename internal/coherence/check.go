// Package coherence compares what was observed: the tools that instructions
// name against the catalogs. It is pure: observations and required tools in,
// a report out. It must never do I/O, read a clock or hold a context.
package coherence

import (
	"slices"
	"strings"

	"github.com/org/mcpeval-guidance/internal/profile"
	"github.com/org/mcpeval-guidance/internal/report"
)

// Settings are what the report says of the run beside the observations.
type Settings struct {
	Version       string // of mcpeval
	Server        string
	SettleMS      int
	TimeoutMS     int
	Jobs          int
	RequiredTools []string // sorted, unique
	Acknowledged  []string // sorted, unique
}

// Mention is a referenced tool that some profile lacks, with the lines of
// instructions that name it. It is for finding the place in the user's
// repository and must not go anywhere else.
type Mention struct {
	Tool  string
	Lines []string
}

// Check makes the report. The mentions have one entry for each tool that has
// a candidate, in the order of the candidates' tools.
func Check(observations []Observation, settings Settings) (report.Report, []Mention) {
	r := report.New(settings.Version, settings.Server, settings.SettleMS, settings.RequiredTools)
	r.Acknowledged, r.TimeoutMS, r.Jobs = settings.Acknowledged, settings.TimeoutMS, settings.Jobs
	listed := map[string][]profile.Profile{}
	complete := true
	for _, o := range observations {
		row := report.Profile{Profile: o.Profile, Diagnosis: o.Diagnosis, NoTools: o.NoTools, Noise: o.Noise}
		if o.Diagnosis == nil {
			present := o.Instructions != nil
			row.Tools, row.InstructionsPresent = o.Tools, &present
		} else {
			row.Error = report.Incomplete()
			complete = false
		}
		r.Profiles = append(r.Profiles, row)
		for _, tool := range o.Tools {
			listed[tool] = append(listed[tool], o.Profile)
		}
	}
	if !complete {
		return r, nil
	}
	known := func(name string) bool { return listed[name] != nil }
	mentions := map[string]Mention{}
	for _, o := range observations {
		for _, tool := range settings.RequiredTools {
			if !slices.Contains(listed[tool], o.Profile) {
				r.Defects = append(r.Defects, report.Defect(o.Profile, tool, listed[tool]))
			}
		}
		if o.Instructions == nil {
			continue
		}
		references := References(*o.Instructions, known)
		slices.SortFunc(references, func(a, b Reference) int { return strings.Compare(a.Tool, b.Tool) })
		for _, reference := range references {
			if !slices.Contains(listed[reference.Tool], o.Profile) {
				r.Candidates = append(r.Candidates, report.Candidate(o.Profile, reference.Tool, listed[reference.Tool]))
				if _, ok := mentions[reference.Tool]; !ok {
					mentions[reference.Tool] = Mention(reference)
				}
			}
		}
	}
	r.Finish()
	return r, inOrder(mentions)
}

func inOrder(mentions map[string]Mention) []Mention {
	list := make([]Mention, 0, len(mentions))
	for _, m := range mentions {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b Mention) int { return strings.Compare(a.Tool, b.Tool) })
	return list
}

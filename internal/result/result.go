// Package result is what one run came to: the sessions, the findings, and the
// verdict. A Result is complete when it is made. It has no field that could
// hold prose, a URL or a server's error, but for the places that find a line
// in the user's own repository.
package result

import (
	"slices"

	"github.com/org/mcpeval-guidance/internal/detect"
	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/name"
	"github.com/org/mcpeval-guidance/internal/observe"
	"github.com/org/mcpeval-guidance/internal/protocol"
	"github.com/org/mcpeval-guidance/internal/reference"
)

// Exit statuses (CONTRACT.md section 2).
const (
	ExitOK         = 0 // complete, every required tool present
	ExitDefects    = 1 // complete, at least one defect
	ExitUsage      = 2 // invalid invocation, nothing was started
	ExitIncomplete = 3 // incomplete, or the report could not be written
)

// How many findings a result may have (CONTRACT.md section 4.4).
const (
	maxFindingsV1 = 200_000 // a profile and a tool each
	maxFindings   = 20_000  // a tool and a source each
)

// Info is what a result says of the run beside the observations.
type Info struct {
	Version      string // of mcpeval
	Server       name.Name
	SettleMS     int         // milliseconds, the window used
	TimeoutMS    int         // milliseconds, one session's discovery
	Jobs         int         // sessions at the same time; 0: five of a command, one of a URL
	Required     []name.Name // sorted, unique
	Acknowledged []name.Name // sorted, unique
	// What counts as a reference beside inline code in instructions.
	Words, Descriptions, Unlisted bool
	// Texts read what the sessions said; nil where nothing can have been lost.
	Texts *reference.Extractor
}

// Result is one run's result.
type Result struct {
	Info
	Matrix   observe.Matrix
	Findings []detect.Finding // in the order of the report; none where the run is incomplete
	Complete bool             // every session was fully discovered
	Passed   bool             // the required-tool gate; it says nothing where the run is incomplete
	// AsV1 says that mcpeval.guidance-report/v1 can say the run: the default
	// protocol version alone, one configuration, the default references.
	AsV1 bool
	// Looks is how many sessions were observed in all, those seen again
	// included.
	Looks   int
	Counted Counted // how much there was to compare
}

// New compares what was observed and judges the gate. The observations are
// those of the run, in its order, at least one.
func New(info Info, observations []observe.Observation) Result {
	r := Result{Info: info, Matrix: observe.NewMatrix(observations)}
	first := observations[0].Session
	r.AsV1 = !info.Words && !info.Descriptions && !info.Unlisted && !slices.ContainsFunc(observations, func(o observe.Observation) bool {
		return o.Session.Protocol != protocol.Default || o.Session.Entry != first.Entry
	})
	r.Counted = count(info, r.Matrix)
	if !r.Matrix.Complete() {
		return r
	}
	findings := detect.Find(r.Matrix, settings(info, observations))
	if r.tooMany(findings) || info.Texts.Overflow(r.Matrix.Names()) {
		return r.withoutVerdict(diagnosis.Diagnosis{Code: diagnosis.FindingLimit, Stage: diagnosis.ToolsList})
	}
	r.Findings, r.Complete = findings, true
	r.Passed = !slices.ContainsFunc(findings, func(f detect.Finding) bool { return f.Rule.Gate })
	return r
}

// Affected is the set of sessions that a run of these observations has findings
// about; none where one of them is incomplete.
func Affected(info Info, observations []observe.Observation) observe.Set {
	m := observe.NewMatrix(observations)
	if !m.Complete() {
		return 0
	}
	return detect.Affected(detect.Find(m, settings(info, observations)))
}

func settings(info Info, observations []observe.Observation) detect.Settings {
	first := observations[0].Session
	return detect.Settings{
		Required: info.Required, Words: info.Words, Descriptions: info.Descriptions, Unlisted: info.Unlisted,
		Sessions: slices.ContainsFunc(observations, func(o observe.Observation) bool {
			return o.Session.Protocol != protocol.Default || o.Session.Entry != first.Entry
		}),
	}
}

func (r Result) tooMany(findings []detect.Finding) bool {
	if !r.AsV1 {
		return len(findings) > maxFindings
	}
	rows := 0
	for _, f := range findings {
		rows += f.In.Len()
	}
	return rows > maxFindingsV1
}

// withoutVerdict is the result with one diagnosis for every session.
func (r Result) withoutVerdict(d diagnosis.Diagnosis) Result {
	var observations []observe.Observation
	for _, o := range r.Matrix.Observations {
		observations = append(observations, observe.Observation{Session: o.Session, Noise: o.Noise, Diagnosis: &d})
	}
	r.Matrix = observe.NewMatrix(observations)
	return r
}

// ExitStatus is the one place where a result becomes an exit status.
func (r Result) ExitStatus() int {
	switch {
	case !r.Complete:
		return ExitIncomplete
	case !r.Passed:
		return ExitDefects
	}
	return ExitOK
}

// Of returns the findings of a rule.
func (r Result) Of(rule *detect.Rule) []detect.Finding {
	from := slices.IndexFunc(r.Findings, func(f detect.Finding) bool { return f.Rule == rule })
	if from < 0 {
		return nil
	}
	to := from
	for to < len(r.Findings) && r.Findings[to].Rule == rule {
		to++
	}
	return r.Findings[from:to]
}

// Counts returns how many candidates and defects there are, a session, a tool
// and a source each (CONTRACT.md section 8, outputs).
func (r Result) Counts() (candidates, defects int) {
	for _, f := range r.Findings {
		if f.Rule.Gate {
			defects += f.In.Len()
		} else {
			candidates += f.In.Len()
		}
	}
	return candidates, defects
}

// Acknowledged reports whether a maintainer has reviewed the finding and keeps
// what it is about (CONTRACT.md section 7).
func (r Result) IsAcknowledged(f detect.Finding) bool {
	_, ok := slices.BinarySearch(r.Acknowledged, f.Tool)
	return ok && !f.Rule.Gate
}

// StaleAcknowledgements returns the acknowledged names that no candidate of a
// complete run has, so that the list cannot rot.
func (r Result) StaleAcknowledgements() []name.Name {
	if !r.Complete {
		return nil
	}
	named := map[name.Name]bool{}
	for _, f := range r.Findings {
		if !f.Rule.Gate {
			named[f.Tool] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(r.Acknowledged), func(tool name.Name) bool { return named[tool] })
}

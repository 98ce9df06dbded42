// Package report is the model of what leaves: validated names, profile
// labels, fixed texts, numbers and flags. No type here may get a field that
// could hold prose, a URL or a server's error.
package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/xeipuuv/gojsonschema"

	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/profile"
	"github.com/org/mcpeval-guidance/schema"
)

// Fixed values of mcpeval.guidance-report/v1 (CONTRACT.md section 3).
const (
	SchemaID           = "mcpeval.guidance-report/v1"
	generatorName      = "mcpeval"
	protocolVersion    = "2025-06-18"
	referenceDetection = "inline-code-known-tools"
	incomplete         = "profile-incomplete"

	// ReasonCandidate and ReasonDefect are the two reasons of a finding.
	ReasonCandidate = "referenced-tool-unavailable"
	ReasonDefect    = "required-tool-unavailable"

	hintCandidate = "Check this reference: clients of this profile do not get the tool. State in the instructions which client capability it needs, or leave it out of the instructions for these clients."
	hintDefect    = "This tool is required in every selected profile: register it for clients of this profile too, check its spelling if no profile lists it, or select only the profiles that get it."
)

// Exit statuses (CONTRACT.md section 2).
const (
	ExitOK         = 0 // complete, every required tool present
	ExitDefects    = 1 // complete, at least one defect
	ExitUsage      = 2 // invalid invocation, nothing was started
	ExitIncomplete = 3 // incomplete, or the report could not be written
)

// Report is one run's result. Its JSON form has exactly the keys of v1, in
// order; what the other fields hold goes to people only.
type Report struct {
	Schema             string    `json:"schema"`
	Generator          Generator `json:"generator"`
	Server             string    `json:"server"`
	ProtocolVersion    string    `json:"protocol_version"`
	ReferenceDetection string    `json:"reference_detection"`
	SettleMS           int       `json:"settle_ms"`
	Complete           bool      `json:"complete"`
	Passed             *bool     `json:"passed"`         // the required-tool gate; nil when incomplete
	RequiredTools      []string  `json:"required_tools"` // sorted, unique
	Profiles           []Profile `json:"profiles"`
	Candidates         []Finding `json:"candidates"`
	Defects            []Finding `json:"defects"`

	Acknowledged []string `json:"-"` // sorted; tools whose candidates were reviewed
	TimeoutMS    int      `json:"-"` // one profile's discovery
	Jobs         int      `json:"-"` // profiles at a time
}

// Generator says what made the report.
type Generator struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Profile is one row of the report: discovered, or incomplete with a
// diagnosis that v1 does not show.
type Profile struct {
	Profile             profile.Profile `json:"profile"`
	Tools               []string        `json:"tools"`                // sorted, unique; nil when incomplete
	InstructionsPresent *bool           `json:"instructions_present"` // nil when incomplete
	Error               *string         `json:"error"`                // nil, or "profile-incomplete"

	Diagnosis *diagnosis.Diagnosis `json:"-"`
	NoTools   bool                 `json:"-"` // complete without the tools capability
	Noise     int                  `json:"-"` // lines on stdout that were no MCP messages
}

// Finding is a candidate or a defect.
type Finding struct {
	Profile     profile.Profile   `json:"profile"`
	Tool        string            `json:"tool"`
	Reason      string            `json:"reason"`
	Hint        string            `json:"hint"`
	AvailableIn []profile.Profile `json:"available_in"` // in profile order
}

// New returns an incomplete report without rows. requiredTools is sorted and
// unique.
func New(version, server string, settleMS int, requiredTools []string) Report {
	return Report{
		Schema:             SchemaID,
		Generator:          Generator{generatorName, version},
		Server:             server,
		ProtocolVersion:    protocolVersion,
		ReferenceDetection: referenceDetection,
		SettleMS:           settleMS,
		RequiredTools:      append([]string{}, requiredTools...),
		Profiles:           []Profile{},
		Candidates:         []Finding{},
		Defects:            []Finding{},
	}
}

// Finish marks the report complete and judges the required-tool gate.
func (r *Report) Finish() {
	passed := len(r.Defects) == 0
	r.Complete, r.Passed = true, &passed
}

// Incomplete is the error of a profile that was not discovered.
func Incomplete() *string {
	s := incomplete
	return &s
}

// Candidate is a tool that this profile's instructions name and only others
// list.
func Candidate(p profile.Profile, tool string, availableIn []profile.Profile) Finding {
	return Finding{p, tool, ReasonCandidate, hintCandidate, append([]profile.Profile{}, availableIn...)}
}

// Defect is a required tool that this profile does not list.
func Defect(p profile.Profile, tool string, availableIn []profile.Profile) Finding {
	return Finding{p, tool, ReasonDefect, hintDefect, append([]profile.Profile{}, availableIn...)}
}

// ExitStatus is the one place where a report becomes an exit status.
func (r Report) ExitStatus() int {
	switch {
	case !r.Complete:
		return ExitIncomplete
	case len(r.Defects) > 0:
		return ExitDefects
	}
	return ExitOK
}

// IsAcknowledged reports whether the tool's candidates were reviewed.
func (r Report) IsAcknowledged(tool string) bool {
	_, ok := slices.BinarySearch(r.Acknowledged, tool)
	return ok
}

// StaleAcknowledgements returns the acknowledged names that no candidate of a
// complete run has, so that the list cannot rot.
func (r Report) StaleAcknowledgements() []string {
	if !r.Complete {
		return nil
	}
	referenced := map[string]bool{}
	for _, f := range r.Candidates {
		referenced[f.Tool] = true
	}
	var stale []string
	for _, tool := range r.Acknowledged {
		if !referenced[tool] {
			stale = append(stale, tool)
		}
	}
	return stale
}

// maxBlock is how many findings are validated at a time: a report may have
// 200,000, whose decoded form would take several times the memory that a run
// may use (CONTRACT.md section 4.4).
const maxBlock = 1000

// ErrInvalid is a report that breaks its own schema: an internal error.
var ErrInvalid = errors.New("the report breaks its own schema")

// WriteJSON validates the report against its schema and writes it, in one
// pass and never whole in memory. Nothing is written of a report that fails
// validation, which is ErrInvalid; any other error is w's.
func (r Report) WriteJSON(w io.Writer) error {
	if err := r.validate(); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	head := r
	head.Candidates, head.Defects = []Finding{}, []Finding{}
	document, err := encode(head, "", "  ")
	if err != nil {
		return ErrInvalid
	}
	const tail = "[],\n  \"defects\": []\n}\n"
	out.Write(bytes.TrimSuffix(document, []byte(tail)))
	if err := writeFindings(out, r.Candidates); err != nil {
		return err
	}
	out.WriteString(",\n  \"defects\": ")
	if err := writeFindings(out, r.Defects); err != nil {
		return err
	}
	out.WriteString("\n}\n")
	return out.Flush()
}

func writeFindings(out *bufio.Writer, findings []Finding) error {
	separator := "[\n    "
	for _, f := range findings {
		element, err := encode(f, "    ", "  ")
		if err != nil {
			return ErrInvalid
		}
		out.WriteString(separator)
		if _, err := out.Write(bytes.TrimSuffix(element, []byte("\n"))); err != nil {
			return err
		}
		separator = ",\n    "
	}
	if len(findings) == 0 {
		out.WriteString("[]")
		return nil
	}
	out.WriteString("\n  ]")
	return nil
}

func encode(value any, prefix, indent string) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent(prefix, indent)
	err := encoder.Encode(value)
	return out.Bytes(), err
}

var compiled = sync.OnceValues(func() (*gojsonschema.Schema, error) {
	return gojsonschema.NewSchema(gojsonschema.NewBytesLoader(schema.Guidance))
})

// validate holds the report against its schema: the document with its first
// findings, then each further block of findings in a document without tools.
// No rule of the schema looks across findings.
func (r Report) validate() error {
	part := r
	part.Candidates, part.Defects = firstBlock(r.Candidates), firstBlock(r.Defects)
	if err := validate(part); err != nil {
		return err
	}
	part.RequiredTools = []string{}
	part.Profiles = slices.Clone(r.Profiles)
	for i := range part.Profiles {
		if part.Profiles[i].Error == nil {
			part.Profiles[i].Tools = []string{}
		}
	}
	for at := maxBlock; at < max(len(r.Candidates), len(r.Defects)); at += maxBlock {
		part.Candidates = firstBlock(r.Candidates[min(at, len(r.Candidates)):])
		// A report that did not pass has a defect, so each part has one.
		if part.Defects = firstBlock(r.Defects); at < len(r.Defects) {
			part.Defects = firstBlock(r.Defects[at:])
		}
		if err := validate(part); err != nil {
			return err
		}
	}
	return nil
}

func firstBlock(findings []Finding) []Finding { return findings[:min(len(findings), maxBlock)] }

func validate(r Report) error {
	document, err := encode(r, "", "")
	if err != nil {
		return ErrInvalid
	}
	rules, err := compiled()
	if err != nil {
		return ErrInvalid
	}
	if result, err := rules.Validate(gojsonschema.NewBytesLoader(document)); err != nil || !result.Valid() {
		return ErrInvalid
	}
	return nil
}

// Group is one tool's findings of one kind, for people.
type Group struct {
	Tool         string
	Reason       string
	Hint         string
	Profiles     []profile.Profile // affected, in profile order
	AvailableIn  []profile.Profile
	Acknowledged bool
}

// Grouped joins findings by tool, in the order of the tools' names.
func (r Report) Grouped(findings []Finding) []Group {
	var groups []Group
	index := map[string]int{}
	for _, f := range findings {
		i, ok := index[f.Tool]
		if !ok {
			i = len(groups)
			index[f.Tool] = i
			groups = append(groups, Group{
				Tool: f.Tool, Reason: f.Reason, Hint: f.Hint, AvailableIn: f.AvailableIn,
				Acknowledged: f.Reason == ReasonCandidate && r.IsAcknowledged(f.Tool),
			})
		}
		groups[i].Profiles = append(groups[i].Profiles, f.Profile)
	}
	slices.SortFunc(groups, func(a, b Group) int { return strings.Compare(a.Tool, b.Tool) })
	return groups
}

// Notes are remarks on a complete profile that deserve attention
// (CONTRACT.md section 4.3), one sentence each, of fixed words and numbers.
func (r Report) Notes() []string {
	var notes []string
	var without []profile.Profile
	lines, where := 0, []profile.Profile(nil)
	for _, p := range r.Profiles {
		if p.NoTools {
			without = append(without, p.Profile)
		}
		if p.Noise > 0 {
			lines += p.Noise
			where = append(where, p.Profile)
		}
	}
	switch {
	case len(without) == 0:
	case len(without) == len(r.Profiles):
		notes = append(notes, "the server declares no tools capability in any selected profile: every catalog is empty")
	default:
		notes = append(notes, "the server declares no tools capability in profile "+List(without)+": the catalog there is empty")
	}
	if lines > 0 {
		what := "lines on stdout were no MCP messages"
		if lines == 1 {
			what = "line on stdout was no MCP message"
		}
		notes = append(notes, fmt.Sprintf("%d %s (profile %s): logs belong on stderr", lines, what, List(where)))
	}
	return notes
}

// List joins profiles for a sentence.
func List(profiles []profile.Profile) string {
	if len(profiles) == 0 {
		return "no selected profile"
	}
	names := make([]string, len(profiles))
	for i, p := range profiles {
		names[i] = string(p)
	}
	return strings.Join(names, ", ")
}

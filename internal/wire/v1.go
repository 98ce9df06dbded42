package wire

import (
	"cmp"
	"slices"

	"github.com/org/mcpeval-guidance/internal/detect"
	"github.com/org/mcpeval-guidance/internal/name"
	"github.com/org/mcpeval-guidance/internal/observe"
	"github.com/org/mcpeval-guidance/internal/profile"
	"github.com/org/mcpeval-guidance/internal/result"
	"github.com/org/mcpeval-guidance/schema"
)

// Fixed values of mcpeval.guidance-report/v1 (CONTRACT.md section 3.1).
const (
	schemaV1             = "mcpeval.guidance-report/v1"
	generatorName        = "mcpeval"
	protocolV1           = "2025-06-18"
	referenceDetectionV1 = "inline-code-known-tools"
	incompleteV1         = "profile-incomplete"
)

var rulesV1 = compiled(schema.Guidance)

type generator struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// headV1 has the members before the lists.
type headV1 struct {
	Schema             string      `json:"schema"`
	Generator          generator   `json:"generator"`
	Server             name.Name   `json:"server"`
	ProtocolVersion    string      `json:"protocol_version"`
	ReferenceDetection string      `json:"reference_detection"`
	SettleMS           int         `json:"settle_ms"`
	Complete           bool        `json:"complete"`
	Passed             *bool       `json:"passed"`
	RequiredTools      []name.Name `json:"required_tools"`
}

type profileV1 struct {
	Profile             profile.Profile `json:"profile"`
	Tools               []name.Name     `json:"tools"`
	InstructionsPresent *bool           `json:"instructions_present"`
	Error               *string         `json:"error"`
}

type findingV1 struct {
	Profile     profile.Profile   `json:"profile"`
	Tool        name.Name         `json:"tool"`
	Reason      string            `json:"reason"`
	Hint        string            `json:"hint"`
	AvailableIn []profile.Profile `json:"available_in"`
}

func v1(r result.Result) document {
	m := r.Matrix
	var candidates, defects []rowV1
	for i := range r.Findings {
		for session := range r.Findings[i].In.All() {
			row := rowV1{finding: &r.Findings[i], session: session}
			if r.Findings[i].Rule.Gate {
				defects = append(defects, row)
			} else {
				candidates = append(candidates, row)
			}
		}
	}
	profiles := list{key: "profiles", length: len(m.Observations), witness: failed(m),
		element: func(i int) any { return profileOf(m.Observations[i], m.Observations[i].Tools) },
		light:   func(i int) any { return profileOf(m.Observations[i], []name.Name{}) },
	}
	return document{
		schema: rulesV1,
		head: headV1{schemaV1, generator{generatorName, r.Version}, r.Server, protocolV1, referenceDetectionV1, r.SettleMS,
			r.Complete, passed(r), append([]name.Name{}, r.Required...)},
		lists: []list{profiles, rowsV1(m, "candidates", candidates, -1), rowsV1(m, "defects", defects, min(len(defects), 1)-1)},
	}
}

func passed(r result.Result) *bool {
	if !r.Complete {
		return nil
	}
	return &r.Passed
}

// failed returns the index of the first session that is incomplete, -1 for
// none.
func failed(m observe.Matrix) int {
	return slices.IndexFunc(m.Observations, func(o observe.Observation) bool { return !o.Complete() })
}

func profileOf(o observe.Observation, tools []name.Name) profileV1 {
	if !o.Complete() {
		text := incompleteV1
		return profileV1{Profile: o.Session.Profile, Error: &text}
	}
	return profileV1{Profile: o.Session.Profile, Tools: tools, InstructionsPresent: &o.HasInstructions}
}

// rowV1 is one finding of v1: a finding and one of its sessions.
type rowV1 struct {
	finding *detect.Finding
	session int
}

// rowsV1 orders the rows by profile, then by tool.
func rowsV1(m observe.Matrix, key string, rows []rowV1, witness int) list {
	slices.SortFunc(rows, func(a, b rowV1) int {
		return cmp.Or(cmp.Compare(a.session, b.session), cmp.Compare(a.finding.Tool, b.finding.Tool))
	})
	return list{key: key, length: len(rows), witness: witness, element: func(i int) any {
		f := rows[i].finding
		available := []profile.Profile{}
		for session := range f.AvailableIn.All() {
			available = append(available, m.Observations[session].Session.Profile)
		}
		return findingV1{m.Observations[rows[i].session].Session.Profile, f.Tool, f.Rule.ID, f.Hint, available}
	}}
}

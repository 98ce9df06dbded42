package wire

import (
	"slices"

	"github.com/org/mcpeval-guidance/internal/detect"
	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/name"
	"github.com/org/mcpeval-guidance/internal/observe"
	"github.com/org/mcpeval-guidance/internal/profile"
	"github.com/org/mcpeval-guidance/internal/protocol"
	"github.com/org/mcpeval-guidance/internal/result"
	"github.com/org/mcpeval-guidance/schema"
)

// schemaV2 is a name of our own (CONTRACT.md section 3.3).
const schemaV2 = "mcpeval-guidance.report/v2"

var rulesV2 = compiled(schema.GuidanceV2)

// headV2 has the members before the lists.
type headV2 struct {
	Schema        string      `json:"schema"`
	Generator     generator   `json:"generator"`
	Server        name.Name   `json:"server"`
	SettleMS      int         `json:"settle_ms"`
	Complete      bool        `json:"complete"`
	Passed        *bool       `json:"passed"`
	RequiredTools []name.Name `json:"required_tools"`
	References    []string    `json:"references"`
}

type sessionV2 struct {
	Entry               *name.Name       `json:"entry"`
	ProtocolVersion     protocol.Version `json:"protocol_version"`
	Profile             profile.Profile  `json:"profile"`
	Tools               []name.Name      `json:"tools"`
	InstructionsPresent *bool            `json:"instructions_present"`
	Diagnosis           *diagnosisV2     `json:"diagnosis"`
}

type diagnosisV2 struct {
	Code  diagnosis.Code  `json:"code"`
	Stage diagnosis.Stage `json:"stage"`
}

type findingV2 struct {
	Kind        string    `json:"kind"`
	Reason      string    `json:"reason"`
	Tool        name.Name `json:"tool"`
	Hint        string    `json:"hint"`
	Source      *sourceV2 `json:"source"`
	Sessions    []int     `json:"sessions"`
	AvailableIn []int     `json:"available_in"`
}

type sourceV2 struct {
	In   string    `json:"in"`
	Tool name.Name `json:"tool,omitempty"`
}

func v2(r result.Result) document {
	m := r.Matrix
	witness := -1
	if len(r.Findings) > 0 && r.Findings[0].Rule.Gate {
		witness = 0
	}
	return document{
		schema: rulesV2,
		head: headV2{schemaV2, generator{generatorName, r.Version}, r.Server, r.SettleMS, r.Complete, passed(r),
			append([]name.Name{}, r.Required...), References(r.Info)},
		lists: []list{
			{key: "sessions", length: len(m.Observations), witness: failed(m),
				element: func(i int) any { return sessionOf(m.Observations[i], m.Observations[i].Tools) },
				light:   func(i int) any { return sessionOf(m.Observations[i], []name.Name{}) },
			},
			{key: "findings", length: len(r.Findings), witness: witness, element: func(i int) any { return findingOf(r.Findings[i]) }},
		},
	}
}

// References are the names of the detections in force, sorted (CONTRACT.md
// section 3.4).
func References(info result.Info) []string {
	names := []string{"inline-code-known-tools"}
	for _, row := range []struct {
		on   bool
		name string
	}{{info.Words, "plain-known-tools"}, {info.Descriptions, "descriptions-known-tools"}, {info.Unlisted, "unlisted-tool-names"}} {
		if row.on {
			names = append(names, row.name)
		}
	}
	slices.Sort(names)
	return names
}

func sessionOf(o observe.Observation, tools []name.Name) sessionV2 {
	s := sessionV2{ProtocolVersion: o.Session.Protocol, Profile: o.Session.Profile}
	if o.Session.Entry != "" {
		s.Entry = &o.Session.Entry
	}
	if d := o.Diagnosis; d != nil {
		s.Diagnosis = &diagnosisV2{d.Code, d.Stage}
		return s
	}
	s.Tools, s.InstructionsPresent = tools, &o.HasInstructions
	return s
}

func findingOf(f detect.Finding) findingV2 {
	out := findingV2{Kind: "candidate", Reason: f.Rule.ID, Tool: f.Tool, Hint: f.Hint, Sessions: indexes(f.In), AvailableIn: indexes(f.AvailableIn)}
	switch {
	case f.Rule.Gate:
		out.Kind = "defect"
	case f.Source.Kind == detect.Description:
		out.Source = &sourceV2{In: "description", Tool: f.Source.Tool}
	default:
		out.Source = &sourceV2{In: "instructions"}
	}
	return out
}

func indexes(set observe.Set) []int {
	list := []int{}
	for i := range set.All() {
		list = append(list, i)
	}
	return list
}

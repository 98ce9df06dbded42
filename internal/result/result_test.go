package result

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/mcpeval-guidance/internal/detect"
	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/name"
	"github.com/org/mcpeval-guidance/internal/observe"
	"github.com/org/mcpeval-guidance/internal/profile"
	"github.com/org/mcpeval-guidance/internal/protocol"
	"github.com/org/mcpeval-guidance/internal/reference"
)

// seen is one session: its instructions, its catalog, and what a tool's
// description says behind a colon.
func seen(x *reference.Extractor, s observe.Session, instructions string, tools ...string) observe.Observation {
	o := observe.Observation{Session: s, HasInstructions: true, Texts: &reference.Texts{Instructions: x.Text(instructions)}, Tools: []name.Name{}}
	for _, text := range tools {
		tool, description, _ := strings.Cut(text, ":")
		o.Tools = append(o.Tools, name.Name(tool))
		o.Texts.Add(name.Name(tool), x.Tool([]byte(`"`+description+`"`), nil))
	}
	slices.Sort(o.Tools)
	return o
}

func in(p profile.Profile) observe.Session {
	return observe.Session{Protocol: protocol.Default, Profile: p}
}

// said writes findings as reason, tool, source, affected and available.
func said(findings []detect.Finding) (list []string) {
	indexes := func(set observe.Set) []int { return slices.Collect(set.All()) }
	for _, f := range findings {
		source := [...]string{"-", "instructions", "description of " + string(f.Source.Tool)}[f.Source.Kind]
		list = append(list, fmt.Sprint(f.Rule.ID, " ", f.Tool, " ", source, " ", indexes(f.In), " ", indexes(f.AvailableIn)))
	}
	return list
}

// CONTRACT.md sections 3.1 to 3.4: what is a finding, and what is none.
func TestFindings(t *testing.T) {
	t.Parallel()
	everything := Info{Words: true, Descriptions: true, Unlisted: true}
	for _, row := range []struct {
		name string
		info Info
		none []string // of profile none: instructions, then tools
		all  []string // the same of profile all
		want []string
		exit int
	}{
		{"nothing", Info{}, []string{"", "alpha"}, []string{"", "alpha"}, nil, ExitOK},
		{"a candidate", Info{}, []string{"`beta_b`", "alpha"}, []string{"`beta_b`", "alpha", "beta_b"}, []string{"referenced-tool-unavailable beta_b instructions [0] [1]"}, ExitOK},
		{"named to those who have it", Info{}, []string{"", "alpha"}, []string{"`beta_b`", "beta_b"}, nil, ExitOK},
		{"known to nobody", Info{}, []string{"`gamma_c`", "alpha"}, []string{"", "beta_b"}, nil, ExitOK},
		{"a plain word", Info{}, []string{"beta_b", "alpha"}, []string{"", "beta_b"}, nil, ExitOK},
		{"a plain word that counts", Info{Words: true}, []string{"beta_b", "alpha"}, []string{"", "beta_b"}, []string{"referenced-tool-unavailable beta_b instructions [0] [1]"}, ExitOK},
		{"a plain word of English", Info{Words: true}, []string{"beta", "alpha"}, []string{"", "beta"}, nil, ExitOK},
		{"a description", Info{}, []string{"", "alpha:see beta_b"}, []string{"", "beta_b"}, nil, ExitOK},
		{"a description that counts", Info{Descriptions: true}, []string{"beta_b", "alpha:see `beta_b`"}, []string{"", "beta_b"}, []string{"referenced-tool-unavailable beta_b description of alpha [0] [1]"}, ExitOK},
		{"an unlisted name", Info{Unlisted: true}, []string{"use get_old", "get_a", "get_b:use get_older"}, []string{"", "get_a"}, []string{"unlisted-tool-named get_old instructions [0] []"}, ExitOK},
		{"unlisted names in descriptions", everything, []string{"", "get_a", "get_b:use get_older"}, []string{"", "get_a"}, []string{"unlisted-tool-named get_older description of get_b [0] []"}, ExitOK},
		{"a defect", Info{Required: []name.Name{"beta_b"}}, []string{"`beta_b`", "alpha"}, []string{"", "beta_b"},
			[]string{"required-tool-unavailable beta_b - [0] [1]", "referenced-tool-unavailable beta_b instructions [0] [1]"}, ExitDefects},
		{"required, known to nobody", Info{Required: []name.Name{"gone"}}, []string{"", "alpha"}, []string{"", "alpha"}, []string{"required-tool-unavailable gone - [0 1] []"}, ExitDefects},
		{"order", everything, []string{"b_tool a_tool", "x_tool:see b_tool", "y_tool:see b_tool a_tool"}, []string{"", "a_tool", "b_tool"}, []string{
			"referenced-tool-unavailable a_tool instructions [0] [1]", "referenced-tool-unavailable a_tool description of y_tool [0] [1]",
			"referenced-tool-unavailable b_tool instructions [0] [1]", "referenced-tool-unavailable b_tool description of x_tool [0] [1]", "referenced-tool-unavailable b_tool description of y_tool [0] [1]",
		}, ExitOK},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			x := reference.NewExtractor(reference.Want{Words: true, Descriptions: true, Unlisted: true})
			r := New(row.info, []observe.Observation{seen(x, in(profile.None), row.none[0], row.none[1:]...), seen(x, in(profile.All), row.all[0], row.all[1:]...)})
			if diff := cmp.Diff(row.want, said(r.Findings)); diff != "" {
				t.Error(diff)
			}
			if r.ExitStatus() != row.exit || !r.Complete || r.Passed != (row.exit == ExitOK) {
				t.Errorf("exit status %d, complete %v, passed %v", r.ExitStatus(), r.Complete, r.Passed)
			}
		})
	}
}

// An incomplete session leaves no verdict and no findings.
func TestIncomplete(t *testing.T) {
	t.Parallel()
	x := reference.NewExtractor(reference.Want{Descriptions: true})
	r := New(Info{Required: []name.Name{"gone"}, Acknowledged: []name.Name{"gone"}}, []observe.Observation{
		seen(x, in(profile.None), "`beta`", "alpha"), {Session: in(profile.All), Diagnosis: &diagnosis.Diagnosis{Code: diagnosis.Timeout, Stage: diagnosis.Settle}},
	})
	if r.Complete || r.Passed || len(r.Findings) != 0 || r.ExitStatus() != ExitIncomplete || r.StaleAcknowledgements() != nil {
		t.Errorf("%+v", r)
	}
}

// CONTRACT.md section 3.3: v1 is written wherever v1 can say it.
func TestAsV1(t *testing.T) {
	t.Parallel()
	x := reference.NewExtractor(reference.Want{Descriptions: true})
	entry := func(label name.Name, v protocol.Version) observe.Observation {
		return seen(x, observe.Session{Entry: label, Protocol: v, Profile: profile.None}, "", "alpha")
	}
	for i, row := range []struct {
		info         Info
		observations []observe.Observation
		want         bool
	}{
		{Info{}, []observe.Observation{entry("", protocol.Default)}, true},
		{Info{}, []observe.Observation{entry("one", protocol.Default)}, true},
		{Info{}, []observe.Observation{entry("one", protocol.Default), entry("two", protocol.Default)}, false},
		{Info{}, []observe.Observation{entry("", protocol.V20251125)}, false},
		{Info{}, []observe.Observation{entry("", protocol.Default), entry("", protocol.V20260728)}, false},
		{Info{Words: true}, []observe.Observation{entry("", protocol.Default)}, false},
		{Info{Descriptions: true}, []observe.Observation{entry("", protocol.Default)}, false},
		{Info{Unlisted: true}, []observe.Observation{entry("", protocol.Default)}, false},
	} {
		if got := New(row.info, row.observations).AsV1; got != row.want {
			t.Errorf("row %d: %v", i, got)
		}
	}
}

// CONTRACT.md section 4.4: past 20,000 findings of v2 there is no verdict.
func TestFindingLimit(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		tools int
		info  Info
		over  bool
	}{{20_000, Info{Words: true}, false}, {20_001, Info{Words: true}, true}, {20_001, Info{}, false}} {
		var text strings.Builder
		var tools []string
		for i := range row.tools {
			tools = append(tools, fmt.Sprintf("tool_%05d", i))
			fmt.Fprintf(&text, "`%s` ", tools[i])
		}
		x := reference.NewExtractor(reference.Want{Words: true})
		r := New(row.info, []observe.Observation{seen(x, in(profile.None), text.String()), seen(x, in(profile.All), "", tools...)})
		if r.Complete == row.over {
			t.Errorf("%d findings: complete %v", row.tools, r.Complete)
		}
		if d := r.Matrix.Observations[0].Diagnosis; row.over && (d == nil || d.Code != diagnosis.FindingLimit) {
			t.Errorf("%d findings: %+v", row.tools, d)
		}
	}
}

// CONTRACT.md section 4.4: v1 counts a profile and a tool each.
func TestFindingLimitOfV1(t *testing.T) {
	t.Parallel()
	for tools, over := range map[int]bool{50_000: false, 50_001: true} {
		x := reference.NewExtractor(reference.Want{})
		var required []name.Name
		for i := range tools {
			required = append(required, name.Name(fmt.Sprintf("tool_%05d", i)))
		}
		var observations []observe.Observation
		for _, p := range profile.Every()[:4] {
			observations = append(observations, seen(x, in(p), "", "alpha"))
		}
		if r := New(Info{Required: required}, observations); r.Complete == over || !r.AsV1 {
			t.Errorf("%d required tools in four profiles: complete %v", tools, r.Complete)
		}
	}
}

// The verdict says what was compared, and no more.
func TestCounted(t *testing.T) {
	t.Parallel()
	x := reference.NewExtractor(reference.Want{Descriptions: true})
	observations := []observe.Observation{
		seen(x, in(profile.None), "`alpha` get_me get_you `nobody`", "alpha", "get_me:see get_you", "get_you:get_you"),
		seen(x, in(profile.All), "`get_me`", "alpha"),
	}
	if diff := cmp.Diff(Counted{Named: []int{1, 1}, Tools: 2, Plain: 1}, New(Info{}, observations).Counted); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Counted{Named: []int{3, 1}, Tools: 3, Described: 1}, New(Info{Words: true, Descriptions: true}, observations).Counted); diff != "" {
		t.Error(diff)
	}
	r := New(Info{Acknowledged: []name.Name{"get_me", "other"}}, observations)
	candidates, defects := r.Counts()
	if candidates != 1 || defects != 0 || !r.IsAcknowledged(r.Findings[0]) || !slices.Equal(r.StaleAcknowledgements(), []name.Name{"other"}) {
		t.Errorf("%d candidates, %d defects, stale %v", candidates, defects, r.StaleAcknowledgements())
	}
}

package coherence

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/profile"
	"github.com/org/mcpeval-guidance/internal/report"
)

func saw(p profile.Profile, instructions string, tools ...string) Observation {
	return Observation{Profile: p, Tools: append([]string{}, tools...), Instructions: &instructions}
}

func silent(p profile.Profile, tools ...string) Observation {
	return Observation{Profile: p, Tools: append([]string{}, tools...)}
}

func failed(p profile.Profile) Observation {
	return Observation{Profile: p, Diagnosis: &diagnosis.Diagnosis{Code: diagnosis.Timeout, Stage: diagnosis.ToolsList}}
}

// finding is what a test compares: the fixed texts have a test of their own.
type finding struct {
	Profile profile.Profile
	Tool    string
	In      string
}

func findings(list []report.Finding) []finding {
	var out []finding
	for _, f := range list {
		in := make([]string, len(f.AvailableIn))
		for i, p := range f.AvailableIn {
			in[i] = string(p)
		}
		out = append(out, finding{f.Profile, f.Tool, strings.Join(in, " ")})
	}
	return out
}

func TestCheck(t *testing.T) {
	t.Parallel()
	const none, roots, sampling, elicitation, all = profile.None, profile.Roots, profile.Sampling, profile.Elicitation, profile.All
	for _, c := range []struct {
		name         string
		observations []Observation
		required     []string
		candidates   []finding
		defects      []finding
		mentions     []Mention
	}{
		{
			name:         "a named tool that the profile lists",
			observations: []Observation{saw(none, "Use `a`.", "a"), saw(all, "Use `a`.", "a", "b")},
		},
		{
			name:         "a named tool that only another profile lists",
			observations: []Observation{saw(none, "x\n Use `b`.", "a"), saw(all, "Use `b` now.", "a", "b")},
			candidates:   []finding{{none, "b", "all"}},
			mentions:     []Mention{{"b", []string{" Use `b`."}}},
		},
		{
			name:         "a tool that no profile lists is not known",
			observations: []Observation{saw(none, "Use `c`.", "a"), saw(all, "Use `c`.", "a")},
		},
		{
			name:         "only this profile's own instructions count",
			observations: []Observation{saw(none, "Use `a`.", "a"), saw(all, "Use `b`.", "a", "b")},
		},
		{
			name:         "a bare name is no reference",
			observations: []Observation{saw(none, "Use b.", "a"), saw(all, "", "a", "b")},
		},
		{
			name:         "no instructions and empty ones",
			observations: []Observation{silent(none, "a"), saw(roots, "", "a"), silent(all, "b")},
		},
		{
			name: "by profile, then tool bytewise, not by place in the text",
			observations: []Observation{
				saw(none, "`b` `a` `_` `Z` `b` `:` `0`"),
				saw(roots, "`Z` `a`", "a"),
				saw(all, "", "0", ":", "Z", "_", "a", "b"),
			},
			candidates: []finding{
				{none, "0", "all"}, {none, ":", "all"}, {none, "Z", "all"}, {none, "_", "all"}, {none, "a", "roots all"}, {none, "b", "all"},
				{roots, "Z", "all"},
			},
			mentions: []Mention{
				{"0", []string{"`b` `a` `_` `Z` `b` `:` `0`"}}, {":", []string{"`b` `a` `_` `Z` `b` `:` `0`"}},
				{"Z", []string{"`b` `a` `_` `Z` `b` `:` `0`"}}, {"_", []string{"`b` `a` `_` `Z` `b` `:` `0`"}},
				{"a", []string{"`b` `a` `_` `Z` `b` `:` `0`"}}, {"b", []string{"`b` `a` `_` `Z` `b` `:` `0`"}},
			},
		},
		{
			name: "available in profile order, the affected one left out",
			observations: []Observation{
				saw(none, "`x`", "x"), saw(roots, "`x`", "x"), saw(sampling, "`x`"), saw(elicitation, "`x`", "x"), saw(all, "`x`", "x"),
			},
			candidates: []finding{{sampling, "x", "none roots elicitation all"}},
			mentions:   []Mention{{"x", []string{"`x`"}}},
		},
		{
			name: "mentions are one a tool, from the first affected profile, in order of the tools",
			observations: []Observation{
				saw(none, "none: `z`"), saw(roots, "roots: `y`\nroots: `z`"), saw(all, "", "y", "z"),
			},
			candidates: []finding{{none, "z", "all"}, {roots, "y", "all"}, {roots, "z", "all"}},
			mentions:   []Mention{{"y", []string{"roots: `y`"}}, {"z", []string{"none: `z`"}}},
		},
		{
			name:         "a required tool that all list",
			observations: []Observation{silent(none, "a"), silent(all, "a", "b")},
			required:     []string{"a"},
		},
		{
			name:         "a required tool that some lack",
			observations: []Observation{silent(none, "a"), silent(roots, "b"), silent(all, "b")},
			required:     []string{"a", "b"},
			defects:      []finding{{none, "b", "roots all"}, {roots, "a", "none"}, {all, "a", "none"}},
		},
		{
			name:         "a required tool that nobody lists",
			observations: []Observation{silent(none), silent(all, "a")},
			required:     []string{"c"},
			defects:      []finding{{none, "c", ""}, {all, "c", ""}},
		},
		{
			name:         "a tool that is required and referenced is both",
			observations: []Observation{saw(none, "`b`", "a"), saw(all, "`b`", "b")},
			required:     []string{"a", "b"},
			candidates:   []finding{{none, "b", "all"}},
			defects:      []finding{{none, "b", "all"}, {all, "a", "none"}},
			mentions:     []Mention{{"b", []string{"`b`"}}},
		},
		{
			name:         "one profile alone has no candidates",
			observations: []Observation{saw(none, "`a` `b`", "a")},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, mentions := Check(c.observations, Settings{Server: "s", Version: "1", RequiredTools: c.required})
			if diff := cmp.Diff(c.candidates, findings(r.Candidates)); diff != "" {
				t.Errorf("candidates: %s", diff)
			}
			if diff := cmp.Diff(c.defects, findings(r.Defects)); diff != "" {
				t.Errorf("defects: %s", diff)
			}
			if len(c.mentions)+len(mentions) > 0 {
				if diff := cmp.Diff(c.mentions, mentions); diff != "" {
					t.Errorf("mentions: %s", diff)
				}
			}
			if !r.Complete || r.Passed == nil || *r.Passed != (len(c.defects) == 0) {
				t.Errorf("complete %v, passed %v", r.Complete, r.Passed)
			}
			if err := r.WriteJSON(io.Discard); err != nil {
				t.Errorf("JSON: %v", err)
			}
		})
	}
}

// A profile that is incomplete takes the verdict and every finding with it.
func TestCheckIncomplete(t *testing.T) {
	t.Parallel()
	for name, observations := range map[string][]Observation{
		"first": {failed(profile.None), saw(profile.Roots, "`b`", "a"), saw(profile.All, "", "b")},
		"last":  {saw(profile.None, "`b`", "a"), saw(profile.Roots, "", "b"), failed(profile.All)},
		"every": {failed(profile.None), failed(profile.All)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, mentions := Check(observations, Settings{Server: "s", Version: "1", RequiredTools: []string{"c"}})
			if r.Complete || r.Passed != nil || len(r.Candidates)+len(r.Defects)+len(mentions) != 0 {
				t.Errorf("complete %v, passed %v, %d candidates, %d defects, %d mentions", r.Complete, r.Passed, len(r.Candidates), len(r.Defects), len(mentions))
			}
			if r.ExitStatus() != report.ExitIncomplete {
				t.Errorf("exit status %d", r.ExitStatus())
			}
			if err := r.WriteJSON(io.Discard); err != nil {
				t.Errorf("JSON: %v", err)
			}
		})
	}
}

func TestCheckRows(t *testing.T) {
	t.Parallel()
	why := failed(profile.Roots).Diagnosis
	empty, yes, no, reason := "", true, false, "profile-incomplete"
	r, _ := Check([]Observation{
		{Profile: profile.None, Tools: []string{"a"}, Instructions: &empty, Noise: 3},
		{Profile: profile.Roots, Diagnosis: why, Noise: 2},
		{Profile: profile.All, Tools: []string{}, NoTools: true},
	}, Settings{
		Version: "1.2.3", Server: "srv", SettleMS: 7, TimeoutMS: 1234, Jobs: 2,
		RequiredTools: []string{"q", "r"}, Acknowledged: []string{"z"},
	})
	want := report.Report{
		Schema:             "mcpeval.guidance-report/v1",
		Generator:          report.Generator{Name: "mcpeval", Version: "1.2.3"},
		Server:             "srv",
		ProtocolVersion:    "2025-06-18",
		ReferenceDetection: "inline-code-known-tools",
		SettleMS:           7,
		RequiredTools:      []string{"q", "r"},
		Profiles: []report.Profile{
			{Profile: profile.None, Tools: []string{"a"}, InstructionsPresent: &yes, Noise: 3},
			{Profile: profile.Roots, Error: &reason, Diagnosis: why, Noise: 2},
			{Profile: profile.All, Tools: []string{}, InstructionsPresent: &no, NoTools: true},
		},
		Candidates: []report.Finding{}, Defects: []report.Finding{},
		Acknowledged: []string{"z"}, TimeoutMS: 1234, Jobs: 2,
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
}

// Case 18 of the field: the protocol's reference server.
func TestCheckEverything(t *testing.T) {
	t.Parallel()
	instructions := "Use `get-roots-list`, `trigger-sampling-request` and `trigger-elicitation-request` where supported, and `echo`."
	extra := map[profile.Profile][]string{
		profile.Roots: {"get-roots-list"}, profile.Sampling: {"trigger-sampling-request"}, profile.Elicitation: {"trigger-elicitation-request"},
		profile.All: {"get-roots-list", "trigger-elicitation-request", "trigger-sampling-request"},
	}
	var observations []Observation
	for _, p := range profile.Every() {
		tools := append([]string{"echo"}, extra[p]...)
		slices.Sort(tools)
		observations = append(observations, saw(p, instructions, tools...))
	}
	r, mentions := Check(observations, Settings{Server: "everything", Version: "1"})
	const roots, elicitation, sampling = "get-roots-list", "trigger-elicitation-request", "trigger-sampling-request"
	want := []finding{
		{profile.None, roots, "roots all"}, {profile.None, elicitation, "elicitation all"}, {profile.None, sampling, "sampling all"},
		{profile.Roots, elicitation, "elicitation all"}, {profile.Roots, sampling, "sampling all"},
		{profile.Sampling, roots, "roots all"}, {profile.Sampling, elicitation, "elicitation all"},
		{profile.Elicitation, roots, "roots all"}, {profile.Elicitation, sampling, "sampling all"},
	}
	if diff := cmp.Diff(want, findings(r.Candidates)); diff != "" {
		t.Error(diff)
	}
	if len(mentions) != 3 || len(r.Defects) != 0 || !*r.Passed {
		t.Errorf("%d mentions, %d defects, passed %v", len(mentions), len(r.Defects), *r.Passed)
	}
}

package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/mcpeval-guidance/internal/detect"
	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/name"
	"github.com/org/mcpeval-guidance/internal/observe"
	"github.com/org/mcpeval-guidance/internal/profile"
	"github.com/org/mcpeval-guidance/internal/protocol"
	"github.com/org/mcpeval-guidance/internal/result"
)

const (
	none, roots, sampling, elicitation, all = profile.None, profile.Roots, profile.Sampling, profile.Elicitation, profile.All
	listRoots, elicit, sample               = name.Name("get-roots-list"), name.Name("trigger-elicitation-request"), name.Name("trigger-sampling-request")
)

func discovered(p profile.Profile, instructions bool, tools ...name.Name) observe.Observation {
	slices.Sort(tools)
	return observe.Observation{Session: observe.Session{Protocol: protocol.Default, Profile: p}, Tools: append([]name.Name{}, tools...), HasInstructions: instructions}
}

func failed(p profile.Profile, code diagnosis.Code, stage diagnosis.Stage, when diagnosis.Circumstance) observe.Observation {
	return observe.Observation{Session: observe.Session{Protocol: protocol.Default, Profile: p}, Diagnosis: &diagnosis.Diagnosis{Code: code, Stage: stage, When: when}}
}

func info(required ...name.Name) result.Info {
	return result.Info{Version: "1.2.3", Server: "everything", SettleMS: 1500, TimeoutMS: 60000, Jobs: 5, Required: required}
}

// found is a finding by the index of its rule.
func found(r result.Result, rule int, tool name.Name, source detect.Source, in observe.Set) detect.Finding {
	f := detect.Finding{Rule: detect.Rules()[rule], Tool: tool, Source: source, In: in, AvailableIn: r.Matrix.Listing(tool)}
	f.Hint = f.Rule.Hint.Sessions
	switch {
	case source.Kind == detect.Description && f.Rule.Hint.Descriptions != "":
		f.Hint = f.Rule.Hint.Descriptions
	case newSessions(r.Matrix).profilesOnly():
		f.Hint = f.Rule.Hint.Profiles
	}
	return f
}

var instructions = detect.Source{Kind: detect.Instructions}

func description(of name.Name) detect.Source {
	return detect.Source{Kind: detect.Description, Tool: of}
}

// referenced is what every session without the tool names in its instructions.
func referenced(r result.Result, tools ...name.Name) (findings []detect.Finding) {
	for _, tool := range tools {
		findings = append(findings, found(r, 1, tool, instructions, r.Matrix.Everyone()&^r.Matrix.Listing(tool)))
	}
	return findings
}

// finished is a complete result with its defects found and other findings
// given, as they would be after discovery.
func finished(in result.Info, observations []observe.Observation, counted result.Counted, others func(r result.Result) []detect.Finding) result.Result {
	r := result.New(in, observations)
	r.Counted = counted
	r.Findings = slices.DeleteFunc(r.Findings, func(f detect.Finding) bool { return !f.Rule.Gate })
	if others != nil {
		r.Findings = append(r.Findings, others(r)...)
	}
	return r
}

func everything() []observe.Observation {
	return []observe.Observation{
		discovered(none, true, "add", "echo"),
		discovered(roots, true, "add", "echo", listRoots),
		discovered(sampling, true, "add", "echo", sample),
		discovered(elicitation, true, "add", "echo", elicit),
		discovered(all, true, "add", "echo", listRoots, elicit, sample),
	}
}

func threeOf(r result.Result) []detect.Finding { return referenced(r, listRoots, elicit, sample) }

// many are sessions of several entries and versions: the tool lock_file is
// not in the read-only entry, and roots_only not in 2026-07-28.
func many(entries []name.Name, protocols []protocol.Version) (observations []observe.Observation) {
	for _, entry := range entries {
		for _, version := range protocols {
			for _, p := range profile.Every() {
				tools := []name.Name{"get_file", "list_files"}
				if entry != "read-only" {
					tools = append(tools, "lock_file", "write_file")
				}
				if !version.Stateless() && p.DeclaresRoots() {
					tools = append(tools, "roots_only")
				}
				o := discovered(p, true, tools...)
				o.Session.Entry, o.Session.Protocol = entry, version
				observations = append(observations, o)
			}
		}
	}
	return observations
}

// results drive the golden files: one value, all renderings.
func results() map[string]result.Result {
	out := map[string]result.Result{}
	five := []int{3, 3, 3, 3, 3}
	out["candidates"] = finished(info(), everything(), result.Counted{Named: five, Tools: 3}, threeOf)
	out["defects"] = finished(info("echo", "missing-everywhere", elicit), everything(), result.Counted{Named: five, Tools: 3}, threeOf)

	acknowledged := info()
	acknowledged.Acknowledged = []name.Name{"gone", listRoots, sample, "too-old"}
	out["acknowledged"] = finished(acknowledged, everything(), result.Counted{Named: five, Tools: 3}, threeOf)
	acknowledged.Acknowledged = []name.Name{listRoots, elicit, sample}
	out["all-acknowledged"] = finished(acknowledged, everything(), result.Counted{Named: five, Tools: 3}, threeOf)

	incomplete := info("echo")
	incomplete.Acknowledged = []name.Name{"gone"}
	observations := []observe.Observation{
		discovered(none, true, "echo"),
		failed(roots, diagnosis.Timeout, diagnosis.ToolsList, diagnosis.Noise|diagnosis.Beside),
		failed(sampling, diagnosis.SpawnFailed, diagnosis.Start, diagnosis.InContainer),
		failed(elicitation, diagnosis.Timeout, diagnosis.ToolsList, diagnosis.Noise|diagnosis.Beside),
		failed(all, diagnosis.CursorMalformed, diagnosis.ToolsList, 0),
	}
	observations[0].Noise, observations[1].Noise, observations[3].Noise = 2, 10, 1
	out["incomplete"] = result.New(incomplete, observations)
	out["refused"] = result.New(info(), []observe.Observation{
		failed(none, diagnosis.ConnectionRefused, diagnosis.Initialize, diagnosis.InContainer|diagnosis.Loopback),
		failed(all, diagnosis.ConnectionRefused, diagnosis.Initialize, diagnosis.InContainer|diagnosis.Loopback),
	})

	pair := []observe.Observation{discovered(none, true, "add", "echo"), discovered(all, false, "add", "echo")}
	out["clean"] = finished(info("add"), pair, result.Counted{Named: []int{2, 0}, Tools: 2}, nil)
	out["plain-words"] = finished(info(), pair, result.Counted{Named: []int{0, 0}, Plain: 3}, nil)
	out["no-instructions"] = finished(info(), []observe.Observation{discovered(none, false, "add"), discovered(all, false, "add", "echo")}, result.Counted{}, nil)

	empty := []observe.Observation{discovered(none, true), discovered(roots, true), discovered(all, false)}
	for i := range empty {
		empty[i].NoTools, empty[i].Characters = true, 2000+100*i
	}
	out["no-tools"] = finished(info(), empty, result.Counted{}, nil)
	some := []observe.Observation{discovered(none, true), discovered(roots, true, "echo"), discovered(all, true, "echo")}
	some[0].NoTools, some[1].Noise = true, 1
	some[0].Characters, some[1].Characters, some[2].Characters = 2516, 2516, 2516
	out["no-tools-in-one"] = finished(info(), some, result.Counted{Named: []int{0, 1, 1}, Tools: 1}, nil)

	commands := result.Info{
		Version: "0.0.0-dev", Server: "::error::x", SettleMS: 1500, TimeoutMS: 60000, Jobs: 5,
		Required: []name.Name{"::add-mask::y", "::stop-commands::z"}, Acknowledged: []name.Name{"::notice::old", "::warning::w"},
	}
	out["commands"] = finished(commands, []observe.Observation{
		discovered(none, true), discovered(all, true, "::add-mask::y", "::error::x", "::warning::w"),
	}, result.Counted{Named: []int{2, 2}, Tools: 2}, func(r result.Result) []detect.Finding { return referenced(r, "::error::x", "::warning::w") })
	hostile := many([]name.Name{"::error::e", "::warning::f"}, []protocol.Version{protocol.V20250618})
	hostile[0] = failed(none, diagnosis.Timeout, diagnosis.Initialize, 0)
	hostile[0].Session.Entry = "::error::e"
	out["commands-in-entries"] = result.New(commands, hostile)

	long, longer := name.Name(strings.Repeat("l", 128)), name.Name(strings.Repeat("m", 128))
	lengthy := result.Info{Version: strings.Repeat("9", 128), Server: name.Name(strings.Repeat("s", 128)), TimeoutMS: 600000, Jobs: 1, Required: []name.Name{long, longer}}
	out["long"] = finished(lengthy, []observe.Observation{discovered(none, true, long), discovered(all, true, long, longer)},
		result.Counted{Named: []int{1, 1}, Tools: 1}, func(r result.Result) []detect.Finding { return referenced(r, longer) })

	wide := result.Info{Version: "1.2.3", Server: "files", SettleMS: 1500, TimeoutMS: 60000, Words: true, Descriptions: true, Unlisted: true}
	thirty := many([]name.Name{"full", "read-only", "lite"}, []protocol.Version{protocol.V20250618, protocol.V20260728})
	counted := result.Counted{Tools: 4, Described: 2}
	for range thirty {
		counted.Named = append(counted.Named, 4)
	}
	out["thirty"] = finished(wide, thirty, counted, func(r result.Result) []detect.Finding {
		findings := referenced(r, "lock_file")
		for i := range 14 {
			findings = append(findings, found(r, 1, "lock_file", description(name.Name(fmt.Sprintf("tool_%02d", i))), r.Matrix.Everyone()&^r.Matrix.Listing("lock_file")))
		}
		findings = append(findings, found(r, 1, "lock_file", description("write_file"), observe.Set(0).With(10)))
		findings = append(findings, referenced(r, "roots_only")...)
		findings = append(findings, found(r, 2, "get_old_file", instructions, r.Matrix.Everyone()), found(r, 2, "get_old_file", description("get_file"), observe.Set(3)))
		return findings
	})
	out["versions"] = finished(result.Info{Version: "1.2.3", Server: "files", SettleMS: 1500, TimeoutMS: 60000, Required: []name.Name{"roots_only"}},
		many([]name.Name{""}, []protocol.Version{protocol.V20250618, protocol.V20260728}), result.Counted{Named: []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, Tools: 1},
		func(r result.Result) []detect.Finding { return referenced(r, "roots_only") })
	return out
}

// places are those of a result's findings: every other one has none.
func places(r result.Result) map[Key]Position {
	at := map[Key]Position{}
	for i, f := range r.Findings {
		if i%2 == 0 && !f.Rule.Gate {
			at[KeyOf(f)] = Position{"src/a b:c/käse.md", 7 + i}
		}
	}
	return at
}

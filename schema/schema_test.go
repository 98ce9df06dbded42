package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/xeipuuv/gojsonschema"

	"github.com/org/mcpeval-guidance/internal/detect"
	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/name"
	"github.com/org/mcpeval-guidance/internal/observe"
	"github.com/org/mcpeval-guidance/internal/profile"
	"github.com/org/mcpeval-guidance/internal/protocol"
	"github.com/org/mcpeval-guidance/internal/result"
	"github.com/org/mcpeval-guidance/internal/wire"
	"github.com/org/mcpeval-guidance/schema"
)

// version is one of the schemas, with small changes of valid reports that
// break one rule each.
type version struct {
	text []byte
	// results have each kind of finding and of session.
	results map[string]result.Result
	rows    func(t *testing.T) []row
	// forReaders are rules that other, conditional ones imply: they are there
	// for the people and the code generators that read the schema.
	forReaders []string
	// allowed is what the schema must not refuse.
	allowed []row
}

func versions() map[string]version {
	return map[string]version{
		"v1": {schema.Guidance, firstResults(), rowsV1, []string{
			"/properties/passed/type",
			"/definitions/profileResult/properties/instructions_present/type",
			"/definitions/finding/properties/reason/type",
		}, allowedV1()},
		"v2": {schema.GuidanceV2, secondResults(), rowsV2, []string{
			"/properties/passed/type",
			"/definitions/session/properties/instructions_present/type",
			"/definitions/indexes/maxItems",
			"/definitions/finding/properties/reason/enum",
		}, allowedV2()},
	}
}

// each runs a test of each version of the schema.
func each(t *testing.T, test func(t *testing.T, v version)) {
	t.Parallel()
	for name, v := range versions() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, v)
		})
	}
}

// compiled is the schema with every keyword checked against draft-07's own
// schema as far as gojsonschema goes.
func (v version) compiled(t testing.TB) *gojsonschema.Schema {
	t.Helper()
	loader := gojsonschema.NewSchemaLoader()
	loader.Validate = true
	s, err := loader.Compile(gojsonschema.NewBytesLoader(v.text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func valid(t testing.TB, s *gojsonschema.Schema, document []byte) (bool, string) {
	t.Helper()
	result, err := s.Validate(gojsonschema.NewBytesLoader(document))
	if err != nil {
		t.Fatal(err)
	}
	return result.Valid(), fmt.Sprint(result.Errors())
}

// The https form of the address, or any other, makes gojsonschema ask the
// network or enforce nothing.
func TestDraft(t *testing.T) { each(t, testDraft) }

func testDraft(t *testing.T, v version) {
	var top struct {
		Schema string `json:"$schema"`
	}
	if err := json.Unmarshal(v.text, &top); err != nil {
		t.Fatal(err)
	}
	if top.Schema != "http://json-schema.org/draft-07/schema#" {
		t.Errorf("$schema is %q", top.Schema)
	}
	if n := bytes.Count(v.text, []byte("://")); n != 1 {
		t.Errorf("%d addresses in the schema, want that of the draft alone", n)
	}
}

// keywords are those of draft-07 that the schema may use: a misspelt one
// would be ignored without a word.
var keywords = []string{
	"$schema", "$id", "$ref", "title", "description", "definitions", "type", "const", "enum", "pattern", "required", "properties",
	"additionalProperties", "items", "contains", "minItems", "maxItems", "uniqueItems", "minimum", "maximum", "minLength", "maxLength",
	"allOf", "anyOf", "not", "if", "then", "else",
}

func TestKeywords(t *testing.T) { each(t, testKeywords) }

func testKeywords(t *testing.T, v version) {
	var document any
	if err := json.Unmarshal(v.text, &document); err != nil {
		t.Fatal(err)
	}
	var check func(at string, value any)
	check = func(at string, value any) {
		object, ok := value.(map[string]any)
		if !ok {
			return
		}
		for key, value := range object {
			if !slices.Contains(keywords, key) {
				t.Errorf("%s: %q is no keyword", at, key)
			}
			switch key {
			case "properties", "definitions":
				for name, value := range value.(map[string]any) {
					check(at+"/"+name, value)
				}
			case "allOf", "anyOf":
				for i, value := range value.([]any) {
					check(fmt.Sprintf("%s/%s/%d", at, key, i), value)
				}
			default:
				check(at+"/"+key, value)
			}
		}
		// Next to $ref every other keyword is ignored in draft-07.
		if object["$ref"] != nil && len(object) > 1 {
			t.Errorf("%s: keywords beside $ref are ignored", at)
		}
		_, hasIf := object["if"]
		_, hasThen := object["then"]
		if hasIf != hasThen {
			t.Errorf("%s: if and then come together", at)
		}
	}
	check("", document)
}

func seen(p profile.Profile, v protocol.Version, instructions bool, tools ...name.Name) observe.Observation {
	return observe.Observation{Session: observe.Session{Profile: p, Protocol: v}, Tools: append([]name.Name{}, tools...), HasInstructions: instructions}
}

// with is a complete result with a candidate for each rule that is no gate.
func with(in result.Info, observations []observe.Observation, findings ...detect.Finding) result.Result {
	r := result.New(in, observations)
	for _, f := range findings {
		f.AvailableIn = r.Matrix.Listing(f.Tool)
		f.Hint = f.Rule.Hint.Sessions
		if r.AsV1 {
			f.Hint = f.Rule.Hint.Profiles
		}
		r.Findings = append(r.Findings, f)
	}
	return r
}

var instructions = detect.Source{Kind: detect.Instructions}

func firstResults() map[string]result.Result {
	in := result.Info{Version: "1.2.3", Server: "server", SettleMS: 1500, Required: []name.Name{"a", "c"}}
	observations := []observe.Observation{
		seen(profile.None, protocol.Default, true), seen(profile.Roots, protocol.Default, false, "a", "b"), seen(profile.All, protocol.Default, true, "a", "b"),
	}
	candidate := detect.Finding{Rule: detect.Rules()[1], Tool: "b", Source: instructions, In: 1}
	passed := in
	passed.Required = nil
	return map[string]result.Result{
		"complete":   with(in, observations, candidate),
		"passed":     with(passed, observations, candidate),
		"incomplete": incompleteResult(protocol.Default),
	}
}

func incompleteResult(v protocol.Version) result.Result {
	missing := seen(profile.All, v, false)
	missing.Tools, missing.Diagnosis = nil, &diagnosis.Diagnosis{Code: diagnosis.Timeout, Stage: diagnosis.Initialize}
	return result.New(result.Info{Version: "0.0.0-dev", Server: "server"}, []observe.Observation{seen(profile.None, v, true, "a"), missing})
}

func secondResults() map[string]result.Result {
	in := result.Info{Version: "1.2.3", Server: "server", SettleMS: 1500, Required: []name.Name{"a", "c"}, Words: true, Descriptions: true, Unlisted: true}
	observations := []observe.Observation{
		seen(profile.None, protocol.V20250618, true), seen(profile.All, protocol.V20250618, false, "a", "b"), seen(profile.All, protocol.V20260728, true, "a", "b"),
	}
	for i := range observations {
		observations[i].Session.Entry = "entry"
	}
	referenced, unlisted := detect.Rules()[1], detect.Rules()[2]
	findings := []detect.Finding{
		{Rule: referenced, Tool: "b", Source: instructions, In: 1},
		{Rule: referenced, Tool: "b", Source: detect.Source{Kind: detect.Description, Tool: "a"}, In: 1},
		{Rule: unlisted, Tool: "d", Source: instructions, In: 7},
	}
	passed := in
	passed.Required = nil
	return map[string]result.Result{
		"complete":   with(in, observations, findings...),
		"passed":     with(passed, observations, findings...),
		"incomplete": incompleteResult(protocol.V20260728),
	}
}

func encoded(t testing.TB, r result.Result) []byte {
	t.Helper()
	var document bytes.Buffer
	if err := wire.Write(&document, r); err != nil {
		t.Fatal(err)
	}
	return document.Bytes()
}

func TestRealReports(t *testing.T) {
	each(t, func(t *testing.T, v version) {
		s := v.compiled(t)
		for name, r := range v.results {
			r.Version = "v1.2.3-rc.1+dirty(devel)_x"
			if ok, why := valid(t, s, encoded(t, r)); !ok {
				t.Errorf("%s: %s", name, why)
			}
		}
	})
}

// deleted marks a member to take out.
type deleted struct{}

// change sets what stands at a path of keys and indices, such as
// "profiles/0/tools".
func change(t *testing.T, document any, path string, value any) {
	t.Helper()
	steps := strings.Split(path, "/")
	for _, step := range steps[:len(steps)-1] {
		switch parent := document.(type) {
		case map[string]any:
			document = parent[step]
		case []any:
			document = parent[int(step[0]-'0')]
		}
	}
	last := steps[len(steps)-1]
	switch parent := document.(type) {
	case map[string]any:
		if value == (deleted{}) {
			if _, ok := parent[last]; !ok {
				t.Fatalf("%s is not there", path)
			}
			delete(parent, last)
			return
		}
		parent[last] = value
	case []any:
		parent[int(last[0]-'0')] = value
	default:
		t.Fatalf("%s leads nowhere", path)
	}
}

type list = []any

type object = map[string]any

// row is one small change of a valid report that breaks one rule.
type row struct {
	base  string
	path  string
	value any
}

func (r row) String() string {
	text, _ := json.Marshal(r.value)
	if r.value == (any)(deleted{}) {
		text = []byte("deleted")
	}
	return fmt.Sprintf("%s/%s=%.60s", r.base, r.path, text)
}

func (v version) bases(t *testing.T) map[string][]byte {
	t.Helper()
	bases := map[string][]byte{}
	for name, r := range v.results {
		bases[name] = encoded(t, r)
	}
	return bases
}

// document returns the changed report.
func (r row) document(t *testing.T, bases map[string][]byte) []byte {
	t.Helper()
	var document any
	if err := json.Unmarshal(bases[r.base], &document); err != nil {
		t.Fatal(err)
	}
	if r.path == "" {
		document = r.value
	} else {
		change(t, document, r.path, r.value)
	}
	changed, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

func TestRules(t *testing.T) {
	each(t, func(t *testing.T, v version) {
		s, bases := v.compiled(t), v.bases(t)
		for _, r := range v.rows(t) {
			if ok, _ := valid(t, s, r.document(t, bases)); ok {
				t.Errorf("%s: accepted", r)
			}
		}
	})
}

// TestEveryRuleIsTested takes each rule out of the schema in turn: one of the
// rows must then be accepted, or the rule has no test.
func TestEveryRuleIsTested(t *testing.T) { each(t, testEveryRule) }

// faultOf is what gojsonschema calls a breach of a keyword.
var faultOf = map[string]string{
	"type": "invalid_type", "const": "const", "enum": "enum", "pattern": "pattern", "additionalProperties": "additional_property_not_allowed",
	"contains": "contains", "minItems": "array_min_items", "maxItems": "array_max_items", "uniqueItems": "unique", "minimum": "number_gte",
	"maximum": "number_lte", "minLength": "string_gte", "maxLength": "string_lte", "not": "number_not", "required": "required",
}

func testEveryRule(t *testing.T, v version) {
	bases := v.bases(t)
	var texts [][]byte
	for _, r := range v.rows(t) {
		texts = append(texts, r.document(t, bases))
	}
	slices.SortStableFunc(texts, func(a, b []byte) int { return len(a) - len(b) }) // the cheap ones first
	var documents []any
	for _, text := range texts {
		document, err := gojsonschema.NewBytesLoader(text).LoadJSON()
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, document)
	}
	// What the whole schema says of a document tells which rule it is for.
	whole, err := gojsonschema.NewSchema(gojsonschema.NewBytesLoader(v.text))
	if err != nil {
		t.Fatal(err)
	}
	faults := make([]map[string]bool, len(documents))
	for i, document := range documents {
		faults[i] = map[string]bool{}
		result, err := whole.Validate(gojsonschema.NewRawLoader(document))
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range result.Errors() {
			faults[i][fault.Type()] = true
		}
	}
	untested := func(s *gojsonschema.Schema, keyword string) bool {
		likely := slices.Clone(documents)
		first := 0
		for i := range documents {
			if faults[i][faultOf[keyword]] {
				likely[first], first = documents[i], first+1
			}
		}
		for i := range documents {
			if !faults[i][faultOf[keyword]] {
				likely[first], first = documents[i], first+1
			}
		}
		for _, document := range likely {
			if result, err := s.Validate(gojsonschema.NewRawLoader(document)); err == nil && result.Valid() {
				return false
			}
		}
		return true
	}
	var top any
	if err := json.Unmarshal(v.text, &top); err != nil {
		t.Fatal(err)
	}
	try := func(at, keyword string) {
		if slices.Contains(v.forReaders, at) {
			return
		}
		s, err := gojsonschema.NewSchema(gojsonschema.NewGoLoader(top))
		if err != nil {
			t.Fatalf("without %s: %v", at, err)
		}
		if untested(s, keyword) {
			t.Errorf("no row fails by %s alone", at)
		}
	}
	rules := []string{
		"type", "const", "enum", "pattern", "additionalProperties", "items", "contains", "minItems", "maxItems", "uniqueItems",
		"minimum", "maximum", "minLength", "maxLength", "not",
	}
	var walk func(at string, value any)
	walk = func(at string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for key, rule := range value {
				here := at + "/" + key
				_, isRule := rule.(map[string]any)
				if slices.Contains(rules, key) && !(isRule && (key == "type" || key == "const")) && !strings.HasSuffix(at, "properties") {
					delete(value, key)
					try(here, key)
					value[key] = rule
				}
				if required, ok := rule.([]any); ok && key == "required" {
					for i, name := range required {
						value[key] = slices.Delete(slices.Clone(required), i, i+1)
						try(fmt.Sprint(here, "/", name), key)
						value[key] = rule
					}
				}
				if key != "if" && key != "not" {
					walk(here, rule)
				}
			}
		case []any:
			for i, rule := range value {
				walk(fmt.Sprint(at, "/", i), rule)
			}
		}
	}
	walk("", top)
}

func rowsV1(t *testing.T) []row {
	var rows []row
	add := func(base, path string, values ...any) {
		for _, value := range values {
			rows = append(rows, row{base, path, value})
		}
	}
	both := func(path string, values ...any) {
		add("complete", path, values...)
		add("incomplete", path, values...)
	}

	// Every key is required, and there are no others.
	for _, key := range []string{
		"schema", "generator", "server", "protocol_version", "reference_detection", "settle_ms", "complete", "passed",
		"required_tools", "profiles", "candidates", "defects",
		"generator/name", "generator/version",
		"profiles/0/profile", "profiles/0/tools", "profiles/0/instructions_present", "profiles/0/error",
	} {
		both(key, deleted{})
	}
	for _, key := range []string{"profile", "tool", "reason", "hint", "available_in"} {
		add("complete", "candidates/0/"+key, deleted{})
		add("complete", "defects/0/"+key, deleted{})
	}
	for _, key := range []string{"x", "Schema", "generator/x", "profiles/0/x", "profiles/1/diagnosis"} {
		both(key, "y")
	}
	add("complete", "candidates/0/x", 1)
	add("complete", "defects/0/x", nil)

	add("complete", "", nil, list{}, "report", 1)

	// Fixed values.
	both("schema", "mcpeval.guidance-report/v2", "", nil, 1)
	both("generator", nil, "mcpeval", list{})
	both("generator/name", "other", nil)
	both("protocol_version", "2025-11-25", "", nil, 20250618)
	both("reference_detection", "bare-names", nil)
	add("complete", "candidates/0/reason", "required-tool-unavailable", "", "other", nil)
	add("complete", "defects/0/reason", "referenced-tool-unavailable", "", "other", nil)

	// Grammar and bounds.
	names := list{"", "a b", "a\n", " a", "\u00e4", "a,b", "`a`", strings.Repeat("x", 129), 1, nil, true}
	both("server", names...)
	both("generator/version", list{"", "a b", "1\n", "v\u00e4", "1/2", strings.Repeat("1", 129), 1, nil}...)
	both("settle_ms", -1, 5001, 1.5, "1500", nil, true)
	both("required_tools", nil, "a", object{}, list{"a", "a"})
	for _, name := range names {
		both("required_tools", list{name})
		add("complete", "candidates/0/tool", name)
		add("complete", "defects/0/tool", name)
		add("complete", "profiles/0/tools", list{"a", name})
		add("incomplete", "profiles/0/tools", list{name})
	}
	for _, at := range []string{"candidates/0/", "defects/0/"} {
		add("complete", at+"profile", "None", "", "other", nil)
		add("complete", at+"hint", "", strings.Repeat("x", 501), nil, 1)
		add("complete", at+"available_in", nil, "all", list{"other"}, list{nil}, list{"all", "all"},
			list{"none", "roots", "sampling", "elicitation", "all"})
	}
	add("complete", "candidates/0/available_in", list{})
	both("candidates", nil, object{}, list{1}, list{nil})
	both("defects", nil, object{}, list{1}, list{nil})

	// Profiles.
	add("incomplete", "profiles/0", object{"profile": "none", "tools": nil, "instructions_present": nil, "error": "timeout"})
	one := object{"profile": "all", "tools": list{}, "instructions_present": true, "error": nil}
	both("profiles", list{}, nil, object{}, list{1}, list{nil})
	add("complete", "profiles", list{one, one})
	six := list{}
	for i := range 6 {
		six = append(six, object{"profile": "all", "tools": list{fmt.Sprint(i)}, "instructions_present": true, "error": nil})
	}
	add("complete", "profiles", six)
	both("profiles/0/profile", "None", "", "other", nil)
	both("profiles/0/instructions_present", nil, "yes", 1)
	both("profiles/0/tools", nil, "a", object{}, list{"a", "a"})
	many := list{}
	for i := range 10001 {
		many = append(many, fmt.Sprint("t", i))
	}
	add("complete", "profiles/0/tools", many)

	// Complete means: no profile has an error, and passed is a boolean that
	// says whether there are defects.
	both("complete", nil, "true", 1)
	add("complete", "complete", false)
	add("incomplete", "complete", true)
	add("complete", "passed", true, nil, "false", 0)
	add("passed", "passed", false, nil, "true", 1)
	add("complete", "defects", list{})
	add("complete", "profiles/0", object{"profile": "none", "tools": nil, "instructions_present": nil, "error": "profile-incomplete"})
	add("complete", "profiles/0/error", "profile-incomplete", "timeout", "", false)

	// Incomplete means: passed is null, no findings, and some profile has an
	// error and nulls beside it.
	add("incomplete", "passed", true, false)
	add("incomplete", "profiles/1/error", nil, "timeout", "", true)
	add("incomplete", "profiles/1/tools", list{}, list{"a"}, "")
	add("incomplete", "profiles/1/instructions_present", true, false)
	add("incomplete", "profiles", list{one})
	var findings object
	if err := json.Unmarshal(encoded(t, firstResults()["complete"]), &findings); err != nil {
		t.Fatal(err)
	}
	add("incomplete", "candidates", findings["candidates"])
	add("incomplete", "defects", findings["defects"])

	return rows
}

func TestAllowed(t *testing.T) {
	each(t, func(t *testing.T, v version) {
		s, bases := v.compiled(t), v.bases(t)
		for _, r := range v.allowed {
			if ok, why := valid(t, s, r.document(t, bases)); !ok {
				t.Errorf("%s: %s", r, why)
			}
		}
	})
}

func allowedV1() []row {
	return []row{
		{"complete", "settle_ms", 0},
		{"complete", "settle_ms", 5000},
		{"complete", "server", strings.Repeat("x", 128)},
		{"complete", "server", "::error::x"},
		{"complete", "defects/0/available_in", list{}},
		{"complete", "candidates/0/available_in", list{"none", "roots", "sampling", "elicitation"}},
		{"complete", "candidates", list{}},
		{"passed", "required_tools", list{"a"}},
		{"incomplete", "profiles/0", object{"profile": "none", "tools": nil, "instructions_present": nil, "error": "profile-incomplete"}},
	}
}

func rowsV2(t *testing.T) []row {
	var rows []row
	add := func(base, path string, values ...any) {
		for _, value := range values {
			rows = append(rows, row{base, path, value})
		}
	}
	both := func(path string, values ...any) {
		add("complete", path, values...)
		add("incomplete", path, values...)
	}
	// In the complete report, findings 0 and 1 are defects; 2 is a candidate
	// from instructions, 3 one from a description, 4 an unlisted name.

	// Every key is required, and there are no others.
	for _, key := range []string{
		"schema", "generator", "server", "settle_ms", "complete", "passed", "required_tools", "references", "sessions", "findings",
		"generator/name", "generator/version", "sessions/0/entry", "sessions/0/protocol_version", "sessions/0/profile", "sessions/0/tools",
		"sessions/0/instructions_present", "sessions/0/diagnosis",
	} {
		both(key, deleted{})
	}
	for _, key := range []string{"kind", "reason", "tool", "hint", "source", "sessions", "available_in"} {
		for i := range 5 {
			add("complete", fmt.Sprintf("findings/%d/%s", i, key), deleted{})
		}
	}
	add("complete", "findings/2/source/in", deleted{})
	add("complete", "findings/3/source/in", deleted{})
	add("complete", "findings/3/source/tool", deleted{})
	add("incomplete", "sessions/1/diagnosis/code", deleted{})
	add("incomplete", "sessions/1/diagnosis/stage", deleted{})
	for _, key := range []string{"x", "Schema", "protocol_version", "profiles", "generator/x", "sessions/0/x", "sessions/0/error"} {
		both(key, "y")
	}
	add("incomplete", "sessions/1/diagnosis/advice", "y")
	add("complete", "findings/0/x", nil)
	add("complete", "findings/2/profile", "none")
	add("complete", "findings/3/source/x", "y")
	add("complete", "", nil, list{}, "report", 1)

	// Fixed values.
	both("schema", "mcpeval.guidance-report/v1", "mcpeval.guidance-report/v2", "", nil, 1)
	both("generator", nil, "mcpeval", list{})
	both("generator/name", "other", nil)
	both("references", nil, "inline-code-known-tools", list{}, list{"plain-known-tools"}, list{"inline-code-known-tools", "other"},
		list{"inline-code-known-tools", "inline-code-known-tools"}, object{})
	both("sessions/0/protocol_version", "2025-06-19", "", nil, 20250618)
	both("sessions/0/profile", "None", "", "other", nil)
	add("incomplete", "sessions/1/diagnosis/stage", "other", "", nil)
	add("incomplete", "sessions/1/diagnosis/code", "", "Timeout", "a b", "a-", "-a", "a_b", strings.Repeat("x", 41), nil, 1)

	// Grammar and bounds.
	names := list{"", "a b", "a\n", " a", "\u00e4", "a,b", "`a`", strings.Repeat("x", 129), 1, true}
	for _, name := range append(names, nil) {
		both("server", name)
		both("required_tools", list{name})
		add("complete", "findings/0/tool", name)
		add("complete", "findings/2/tool", name)
		add("complete", "findings/3/source/tool", name)
		both("sessions/0/tools", list{name})
	}
	both("sessions/0/entry", names...)
	both("generator/version", list{"", "a b", "1\n", "v\u00e4", "1/2", strings.Repeat("1", 129), 1, nil}...)
	both("settle_ms", -1, 5001, 1.5, "1500", nil, true)
	both("required_tools", nil, "a", object{}, list{"a", "a"})
	for _, at := range []string{"findings/0/", "findings/2/", "findings/4/"} {
		add("complete", at+"hint", "", strings.Repeat("x", 501), nil, 1)
		add("complete", at+"sessions", list{}, nil, 0, list{-1}, list{60}, list{0, 0}, list{"0"}, list{0.5}, object{})
	}
	sixtyOne := list{}
	for i := range 61 {
		sixtyOne = append(sixtyOne, i)
	}
	add("complete", "findings/0/sessions", sixtyOne)
	add("complete", "findings/0/available_in", nil, list{-1}, list{60}, list{0, 0}, list{nil})

	// A kind has its reasons and its sources.
	add("complete", "findings/0/kind", "candidate", "", nil)
	add("complete", "findings/2/kind", "defect", "other", nil)
	add("complete", "findings/0/reason", "referenced-tool-unavailable", "unlisted-tool-named", "", nil)
	add("complete", "findings/2/reason", "required-tool-unavailable", "unlisted-tool-named", "", nil)
	add("complete", "findings/4/reason", "referenced-tool-unavailable", "other")
	add("complete", "findings/0/source", object{"in": "instructions"}, "instructions")
	add("complete", "findings/2/source", nil, "instructions", list{}, object{"in": "x"}, object{"in": "description"}, object{"in": "instructions", "tool": "a"})
	add("complete", "findings/2/available_in", list{})
	add("complete", "findings/4/available_in", list{0})
	both("findings", nil, object{}, list{1}, list{nil})

	// Sessions.
	one := object{"entry": nil, "protocol_version": "2026-07-28", "profile": "all", "tools": list{}, "instructions_present": true, "diagnosis": nil}
	both("sessions", list{}, nil, object{}, list{1}, list{nil})
	tooMany := list{}
	for range 61 {
		tooMany = append(tooMany, one)
	}
	add("complete", "sessions", tooMany)
	both("sessions/0/instructions_present", nil, "yes", 1)
	both("sessions/0/tools", nil, "a", object{}, list{"a", "a"})
	many := list{}
	for i := range 10001 {
		many = append(many, fmt.Sprint("t", i))
	}
	add("complete", "sessions/0/tools", many)

	// Complete means: no session has a diagnosis, and passed is a boolean that
	// says whether there are defects.
	both("complete", nil, "true", 1)
	add("complete", "complete", false)
	add("incomplete", "complete", true)
	add("complete", "passed", true, nil, "false", 0)
	add("passed", "passed", false, nil, "true", 1)
	add("complete", "findings", list{})
	failed := func(diagnosis any) object {
		return object{"entry": nil, "protocol_version": "2026-07-28", "profile": "all", "tools": nil, "instructions_present": nil, "diagnosis": diagnosis}
	}
	incomplete := failed(object{"code": "timeout", "stage": "discover"})
	add("complete", "sessions/0", incomplete)
	add("passed", "sessions/0", incomplete)
	add("complete", "sessions/0/diagnosis", "timeout", false, object{"code": "timeout", "stage": "discover"})

	// Incomplete means: passed is null, no findings, and some session has a
	// diagnosis and nulls beside it.
	add("incomplete", "passed", true, false)
	add("incomplete", "sessions/1/diagnosis", nil, "timeout", list{}, object{})
	add("incomplete", "sessions/1/tools", list{}, list{"a"}, "")
	add("incomplete", "sessions/1/instructions_present", true, false)
	add("incomplete", "sessions", list{one})
	add("incomplete", "sessions/0", failed("timeout"))
	var findings object
	if err := json.Unmarshal(encoded(t, secondResults()["complete"]), &findings); err != nil {
		t.Fatal(err)
	}
	add("incomplete", "findings", findings["findings"])
	candidate := findings["findings"].(list)[2]
	flood := list{}
	for range 20001 {
		flood = append(flood, candidate)
	}
	add("passed", "findings", flood)
	return rows
}

func allowedV2() []row {
	return []row{
		{"complete", "settle_ms", 0},
		{"complete", "sessions/0/entry", nil},
		{"complete", "sessions/0/entry", "::error::x"},
		{"complete", "findings/0/available_in", list{}},
		{"complete", "findings/2/sessions", list{0, 59}},
		{"passed", "findings", list{}},
		{"passed", "references", list{"inline-code-known-tools"}},
		{"incomplete", "sessions/1/diagnosis", object{"code": "header-mismatch", "stage": "discover"}},
	}
}

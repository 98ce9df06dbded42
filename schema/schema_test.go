package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/xeipuuv/gojsonschema"

	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/profile"
	"github.com/org/mcpeval-guidance/internal/report"
	"github.com/org/mcpeval-guidance/schema"
)

// compiled is the schema with every keyword checked against draft-07's own
// schema as far as gojsonschema goes.
func compiled(t testing.TB) *gojsonschema.Schema {
	t.Helper()
	loader := gojsonschema.NewSchemaLoader()
	loader.Validate = true
	s, err := loader.Compile(gojsonschema.NewBytesLoader(schema.Guidance))
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
func TestDraft(t *testing.T) {
	t.Parallel()
	var top struct {
		Schema string `json:"$schema"`
	}
	if err := json.Unmarshal(schema.Guidance, &top); err != nil {
		t.Fatal(err)
	}
	if top.Schema != "http://json-schema.org/draft-07/schema#" {
		t.Errorf("$schema is %q", top.Schema)
	}
	if n := bytes.Count(schema.Guidance, []byte("://")); n != 1 {
		t.Errorf("%d addresses in the schema, want that of the draft alone", n)
	}
}

// keywords are those of draft-07 that the schema may use: a misspelt one
// would be ignored without a word.
var keywords = []string{
	"$schema", "$id", "$ref", "title", "description", "definitions", "type", "const", "enum", "pattern", "required", "properties",
	"additionalProperties", "items", "contains", "minItems", "maxItems", "uniqueItems", "minimum", "maximum", "minLength", "maxLength",
	"allOf", "if", "then", "else",
}

func TestKeywords(t *testing.T) {
	t.Parallel()
	var document any
	if err := json.Unmarshal(schema.Guidance, &document); err != nil {
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
			case "allOf":
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

func yes() *bool { b := true; return &b }

// completeReport has each kind of finding and of profile.
func completeReport() report.Report {
	r := report.New("1.2.3", "server", 1500, []string{"a", "c"})
	r.Profiles = []report.Profile{
		{Profile: profile.None, Tools: []string{}, InstructionsPresent: yes()},
		{Profile: profile.Roots, Tools: []string{"a", "b"}, InstructionsPresent: new(bool)},
		{Profile: profile.All, Tools: []string{"a", "b"}, InstructionsPresent: yes()},
	}
	both := []profile.Profile{profile.Roots, profile.All}
	r.Candidates = []report.Finding{report.Candidate(profile.None, "b", both)}
	r.Defects = []report.Finding{
		report.Defect(profile.None, "a", both), report.Defect(profile.None, "c", nil),
		report.Defect(profile.Roots, "c", nil), report.Defect(profile.All, "c", nil),
	}
	r.Finish()
	return r
}

func passedReport() report.Report {
	r := completeReport()
	r.RequiredTools, r.Defects = []string{}, []report.Finding{}
	r.Finish()
	return r
}

func incompleteReport() report.Report {
	r := report.New("0.0.0-dev", "server", 0, nil)
	r.Profiles = []report.Profile{
		{Profile: profile.None, Tools: []string{"a"}, InstructionsPresent: yes()},
		{Profile: profile.All, Error: report.Incomplete(), Diagnosis: &diagnosis.Diagnosis{Code: diagnosis.Timeout}},
	}
	return r
}

func encoded(t testing.TB, r report.Report) []byte {
	t.Helper()
	var document bytes.Buffer
	if err := r.WriteJSON(&document); err != nil {
		t.Fatal(err)
	}
	return document.Bytes()
}

func TestRealReports(t *testing.T) {
	t.Parallel()
	s := compiled(t)
	every := incompleteReport()
	every.Profiles = nil
	for _, p := range profile.Every() {
		every.Profiles = append(every.Profiles, report.Profile{Profile: p, Error: report.Incomplete()})
	}
	versions := passedReport()
	versions.Generator.Version = "v1.2.3-rc.1+dirty(devel)_x"
	for name, r := range map[string]report.Report{
		"complete": completeReport(), "passed": passedReport(), "incomplete": incompleteReport(), "every profile incomplete": every, "version": versions,
	} {
		if ok, why := valid(t, s, encoded(t, r)); !ok {
			t.Errorf("%s: %s", name, why)
		}
	}
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

func bases(t *testing.T) map[string][]byte {
	return map[string][]byte{
		"complete": encoded(t, completeReport()), "passed": encoded(t, passedReport()), "incomplete": encoded(t, incompleteReport()),
	}
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
	t.Parallel()
	s, bases := compiled(t), bases(t)
	for _, r := range rows(t) {
		t.Run(r.String(), func(t *testing.T) {
			t.Parallel()
			if ok, _ := valid(t, s, r.document(t, bases)); ok {
				t.Error("accepted")
			}
		})
	}
}

// forReaders are rules that other, conditional ones imply: they are there for
// the people and the code generators that read the schema.
var forReaders = []string{
	"/properties/passed/type",
	"/definitions/profileResult/properties/instructions_present/type",
	"/definitions/finding/properties/reason/type",
}

// TestEveryRuleIsTested takes each rule out of the schema in turn: one of the
// rows must then be accepted, or the rule has no test.
func TestEveryRuleIsTested(t *testing.T) {
	t.Parallel()
	bases := bases(t)
	var texts [][]byte
	for _, r := range rows(t) {
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
	untested := func(s *gojsonschema.Schema) bool {
		for _, document := range documents {
			if result, err := s.Validate(gojsonschema.NewRawLoader(document)); err == nil && result.Valid() {
				return false
			}
		}
		return true
	}
	var top any
	if err := json.Unmarshal(schema.Guidance, &top); err != nil {
		t.Fatal(err)
	}
	try := func(at string) {
		if slices.Contains(forReaders, at) {
			return
		}
		s, err := gojsonschema.NewSchema(gojsonschema.NewGoLoader(top))
		if err != nil {
			t.Fatalf("without %s: %v", at, err)
		}
		if untested(s) {
			t.Errorf("no row fails by %s alone", at)
		}
	}
	rules := []string{
		"type", "const", "enum", "pattern", "additionalProperties", "items", "contains", "minItems", "maxItems", "uniqueItems",
		"minimum", "maximum", "minLength", "maxLength",
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
					try(here)
					value[key] = rule
				}
				if required, ok := rule.([]any); ok && key == "required" {
					for i, name := range required {
						value[key] = slices.Delete(slices.Clone(required), i, i+1)
						try(fmt.Sprint(here, "/", name))
						value[key] = rule
					}
				}
				if key != "if" {
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

func rows(t *testing.T) []row {
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
	if err := json.Unmarshal(encoded(t, completeReport()), &findings); err != nil {
		t.Fatal(err)
	}
	add("incomplete", "candidates", findings["candidates"])
	add("incomplete", "defects", findings["defects"])

	return rows
}

// What the schema must not refuse.
func TestAllowed(t *testing.T) {
	t.Parallel()
	s := compiled(t)
	for _, c := range []struct {
		base  report.Report
		path  string
		value any
	}{
		{completeReport(), "settle_ms", 0},
		{completeReport(), "settle_ms", 5000},
		{completeReport(), "server", strings.Repeat("x", 128)},
		{completeReport(), "server", "::error::x"},
		{completeReport(), "defects/0/available_in", list{}},
		{completeReport(), "candidates/0/available_in", list{"none", "roots", "sampling", "elicitation"}},
		{completeReport(), "candidates", list{}},
		{passedReport(), "required_tools", list{"a"}},
		{incompleteReport(), "profiles/0", object{"profile": "none", "tools": nil, "instructions_present": nil, "error": "profile-incomplete"}},
	} {
		var document any
		if err := json.Unmarshal(encoded(t, c.base), &document); err != nil {
			t.Fatal(err)
		}
		change(t, document, c.path, c.value)
		changed, _ := json.Marshal(document)
		if ok, why := valid(t, s, changed); !ok {
			t.Errorf("%s = %v: %s", c.path, c.value, why)
		}
	}
}

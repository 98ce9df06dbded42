package action

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"github.com/org/mcpeval-guidance/internal/options"
)

// metadata is action.yml, in its order.
type metadata struct {
	Inputs, Outputs yaml.Node
	Runs            struct{ Using, Image string }
}

type item struct {
	name     string
	Default  *string
	Required *bool
	// The rest is for people.
	Description string
}

func readMetadata(t *testing.T) (inputs, outputs []item, m metadata) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	for _, side := range []struct {
		node yaml.Node
		into *[]item
	}{{m.Inputs, &inputs}, {m.Outputs, &outputs}} {
		for i := 0; i < len(side.node.Content); i += 2 {
			entry := item{name: side.node.Content[i].Value}
			if err := side.node.Content[i+1].Decode(&entry); err != nil {
				t.Fatal(err)
			}
			*side.into = append(*side.into, entry)
		}
	}
	return inputs, outputs, m
}

// TestMetadataInputs: every input of action.yml is read, every input that is
// read is there, and a default there changes nothing: the defaults live in
// options.
func TestMetadataInputs(t *testing.T) {
	t.Parallel()
	declared, _, m := readMetadata(t)
	environ, names := with(), []string(nil)
	for _, in := range declared {
		names = append(names, in.name)
		if in.Default == nil || in.Required == nil || *in.Required || in.Description == "" {
			t.Errorf("input %s: must have a description and a default and not be required", in.name)
			continue
		}
		if variable := "INPUT_" + strings.ToUpper(in.name); *in.Default != "" {
			environ[variable] = *in.Default
		}
	}
	var asked []string
	a, _ := newActionIn(t, t.TempDir(), func(name string) string {
		if input, ok := strings.CutPrefix(name, "INPUT_"); ok {
			asked = append(asked, strings.ToLower(input))
		}
		return environ[name]
	})
	a.Mask()
	in, err := a.Inputs()
	if err != nil {
		t.Fatal(err)
	}
	got, err := options.New(in.Raw)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(asked)
	slices.Sort(names)
	if diff := cmp.Diff(names, slices.Compact(asked)); diff != "" {
		t.Errorf("inputs (- action.yml, + code):\n%s", diff)
	}
	plain, want := read(t, with())
	want.Target.Entries[0].Launch.Dir = got.Target.Entries[0].Launch.Dir // another temporary folder
	if !reflect.DeepEqual(want, got) {
		t.Errorf("action.yml's defaults give other options than no inputs:\n%s", cmp.Diff(want, got))
	}
	if in.ReportPath != plain.ReportPath || in.SARIFPath != "" || in.InstructionFiles != nil {
		t.Errorf("action.yml's defaults give %+v", in)
	}
	if m.Runs.Using != "docker" || m.Runs.Image != "Dockerfile" {
		t.Errorf("action.yml runs %+v", m.Runs)
	}
}

func TestMetadataOutputs(t *testing.T) {
	t.Parallel()
	_, declared, _ := readMetadata(t)
	file := filepath.Join(t.TempDir(), "output")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	a, _ := newAction(t, map[string]string{"GITHUB_OUTPUT": file})
	if err := a.SetOutputs(Outcome{}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pairs, err := readOutputs(string(text))
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, out := range declared {
		want = append(want, out.name)
		if out.Description == "" {
			t.Errorf("output %s has no description", out.name)
		}
	}
	for _, p := range pairs {
		got = append(got, p.name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outputs (- action.yml, + code):\n%s", diff)
	}
}

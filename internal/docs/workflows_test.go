package docs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rhysd/actionlint"
	"go.yaml.in/yaml/v4"

	"github.com/org/mcpeval-guidance/internal/options"
)

// action is an action's metadata, as far as it matters here.
type action struct {
	Name, Description, Author string
	Inputs                    []input
	Outputs                   []output
	Runs                      struct {
		Using, Image string
		Steps        []step
	}
}

type input struct {
	Name        string
	Description string
	Required    bool
	Default     string
}

type output struct{ Name, Description, Value string }

type step struct {
	Name, ID, Shell, Run, Uses string
	Env                        map[string]string
}

func (a action) inputNames() []string {
	var names []string
	for _, in := range a.Inputs {
		names = append(names, in.Name)
	}
	return names
}

// decode reads a YAML file; an unknown field of a struct is no error, a
// repeated key is.
func decode(t *testing.T, name string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(read(t, name)), into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// readAction keeps the order of inputs and outputs.
func readAction(t *testing.T, name string) action {
	t.Helper()
	var raw struct {
		Name, Description, Author string
		Inputs, Outputs           yaml.Node
		Runs                      struct {
			Using, Image string
			Steps        []struct {
				Name, ID, Shell, Run, Uses string
				Env                        map[string]string
			}
		}
	}
	decode(t, name, &raw)
	a := action{Name: raw.Name, Description: raw.Description, Author: raw.Author}
	a.Runs.Using, a.Runs.Image = raw.Runs.Using, raw.Runs.Image
	for _, s := range raw.Runs.Steps {
		a.Runs.Steps = append(a.Runs.Steps, step(s))
	}
	for i := 0; i < len(raw.Inputs.Content); i += 2 {
		in := input{Name: raw.Inputs.Content[i].Value}
		var body struct {
			Description string
			Required    bool
			Default     string
		}
		if err := raw.Inputs.Content[i+1].Decode(&body); err != nil {
			t.Fatalf("%s: input %s: %v", name, in.Name, err)
		}
		in.Description, in.Required, in.Default = body.Description, body.Required, body.Default
		a.Inputs = append(a.Inputs, in)
	}
	for i := 0; i < len(raw.Outputs.Content); i += 2 {
		out := output{Name: raw.Outputs.Content[i].Value}
		var body struct{ Description, Value string }
		if err := raw.Outputs.Content[i+1].Decode(&body); err != nil {
			t.Fatalf("%s: output %s: %v", name, out.Name, err)
		}
		out.Description, out.Value = body.Description, body.Value
		a.Outputs = append(a.Outputs, out)
	}
	return a
}

const hostAction = ".github/actions/host/action.yml"

// TestActionMetadata holds both action files to what GitHub and the
// Marketplace ask for, and to the defaults of the code.
func TestActionMetadata(t *testing.T) {
	for _, name := range []string{"action.yml", hostAction} {
		a := readAction(t, name)
		if a.Name == "" || a.Author == "" || a.Description == "" || len(a.Description) > 160 {
			t.Errorf("%s: name, author and a short description are needed", name)
		}
		for _, in := range a.Inputs {
			if in.Description == "" || in.Required {
				t.Errorf("%s: input %s: must have a description and not be required: the program says what is missing", name, in.Name)
			}
		}
		for _, out := range a.Outputs {
			if out.Description == "" {
				t.Errorf("%s: output %s has no description", name, out.Name)
			}
		}
		for input, want := range map[string]string{
			"settle-ms":  fmt.Sprint(options.DefaultSettleMS),
			"timeout-ms": fmt.Sprint(options.DefaultTimeoutMS),
			"jobs":       "", // it depends on the target
		} {
			i := slices.Index(a.inputNames(), input)
			if i < 0 || a.Inputs[i].Default != want {
				t.Errorf("%s: input %s must have the default %s", name, input, want)
			}
		}
	}
	if a := readAction(t, "action.yml"); a.Runs.Using != "docker" || a.Runs.Image != "Dockerfile" {
		// release.yml replaces this very line.
		t.Errorf("action.yml runs %+v", a.Runs)
	}
}

// TestHostActionIsASibling: the same inputs, defaults and outputs, and every
// input in the environment of the step that runs the check.
func TestHostActionIsASibling(t *testing.T) {
	container, host := readAction(t, "action.yml"), readAction(t, hostAction)
	inContainer := strings.NewReplacer("started in the container", "started on the runner")
	for i := range container.Inputs {
		container.Inputs[i].Description = inContainer.Replace(container.Inputs[i].Description)
	}
	if diff := cmp.Diff(container.Inputs, host.Inputs); diff != "" {
		t.Errorf("inputs (- action.yml, + host):\n%s", diff)
	}
	for i := range container.Outputs {
		name := container.Outputs[i].Name
		container.Outputs[i].Value = fmt.Sprintf("${{ steps.check.outputs.%s || steps.install.outputs.%s }}", name, name)
	}
	if diff := cmp.Diff(container.Outputs, host.Outputs); diff != "" {
		t.Errorf("outputs (- action.yml, + host):\n%s", diff)
	}
	if host.Runs.Using != "composite" || len(host.Runs.Steps) != 2 || host.Runs.Steps[1].ID != "check" {
		t.Fatalf("the host action runs %+v", host.Runs)
	}
	env := host.Runs.Steps[1].Env
	for _, in := range host.Inputs {
		variable := "INPUT_" + strings.ToUpper(in.Name)
		if want := "${{ inputs." + in.Name + " }}"; env[variable] != want {
			t.Errorf("%s is %q, want %q", variable, env[variable], want)
		}
		delete(env, variable)
	}
	for variable := range env {
		if strings.HasPrefix(variable, "INPUT_") {
			t.Errorf("%s is no input", variable)
		}
	}
	for _, s := range host.Runs.Steps {
		if s.Shell != "bash" {
			t.Errorf("step %q needs bash: sh drops variables with a hyphen in their name", s.Name)
		}
	}
}

func workflows(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(root, ".github/workflows/*.yml"))
	if err != nil || len(names) < 4 {
		t.Fatal(err, names)
	}
	return names
}

func lint(t *testing.T, name string, content []byte) {
	t.Helper()
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{WorkingDir: root})
	if err != nil {
		t.Fatal(err)
	}
	project, err := actionlint.NewProject(root)
	if err != nil {
		t.Fatal(err)
	}
	found, err := linter.Lint(name, content, project)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range found {
		t.Errorf("%s:%d: %s [%s]", name, e.Line, e.Message, e.Kind)
	}
}

// TestWorkflows runs actionlint on our own workflows. It checks what they
// give to the two local actions, too.
func TestWorkflows(t *testing.T) {
	for _, file := range workflows(t) {
		name := ".github/workflows/" + filepath.Base(file)
		lint(t, name, []byte(read(t, name)))
		var workflow struct {
			Permissions map[string]string
			Jobs        map[string]struct {
				TimeoutMinutes int `yaml:"timeout-minutes"`
			}
		}
		decode(t, name, &workflow)
		if diff := cmp.Diff(workflow.Permissions, map[string]string{"contents": "read"}); diff != "" {
			t.Errorf("%s: a workflow starts with contents: read and nothing else:\n%s", name, diff)
		}
		for id, job := range workflow.Jobs {
			if job.TimeoutMinutes == 0 {
				t.Errorf("%s: job %s has no timeout-minutes", name, id)
			}
		}
	}
}

var (
	usesLine   = regexp.MustCompile(`(?m)^\s*(?:- )?uses: (.+)$`)
	pinnedUses = regexp.MustCompile(`^([\w.-]+/[\w./-]+)@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)$`)
)

// pins returns the pinned third-party actions of .github with their versions.
func pins(t *testing.T) map[string]string {
	t.Helper()
	versions, commits := map[string]string{}, map[string]string{}
	files := []string{hostAction}
	for _, file := range workflows(t) {
		files = append(files, ".github/workflows/"+filepath.Base(file))
	}
	for _, file := range files {
		for _, m := range usesLine.FindAllStringSubmatch(read(t, file), -1) {
			if strings.HasPrefix(m[1], "./") {
				continue
			}
			pin := pinnedUses.FindStringSubmatch(m[1])
			if pin == nil {
				t.Errorf("%s: %q is not pinned by a commit with its version as a comment", file, m[1])
				continue
			}
			if known, ok := commits[pin[1]]; ok && known != pin[2]+pin[3] {
				t.Errorf("%s: %s is pinned to two versions", file, pin[1])
			}
			commits[pin[1]], versions[pin[1]] = pin[2]+pin[3], pin[3]
		}
	}
	return versions
}

func TestActionsArePinned(t *testing.T) {
	if len(pins(t)) < 5 {
		t.Error("hardly any action was found")
	}
}

// TestRecipes: every YAML block of the documentation is a workflow, or the
// steps of a job, that passes actionlint with our own action.yml behind it.
func TestRecipes(t *testing.T) {
	pinned := pins(t)
	local := strings.NewReplacer(
		"org/mcpeval-guidance/.github/actions/host@v1", "./.github/actions/host",
		"org/mcpeval-guidance@v1", "./",
	)
	recipes := 0
	for _, document := range documents {
		blocks, _ := fences(t, document)
		for _, b := range blocks {
			at := fmt.Sprintf("%s:%d", document, b.line)
			switch b.language {
			case "json":
				if !json.Valid([]byte(b.text)) {
					t.Errorf("%s: no JSON", at)
				}
				continue
			case "yaml":
			case "", "console", "dockerfile", "mermaid", "sh", "text":
				continue
			default:
				t.Errorf("%s: a code block in %q is not tested", at, b.language)
				continue
			}
			recipes++
			content := b.text
			if strings.HasPrefix(content, "- ") {
				content = "on: push\njobs:\n  recipe:\n    runs-on: ubuntu-latest\n    steps:\n" + indent(content, "      ")
			} else {
				for _, want := range []string{"\npermissions:\n  contents: read\n", "persist-credentials: false\n"} {
					if !strings.Contains(content, want) {
						t.Errorf("%s: lacks %q", at, want)
					}
				}
			}
			lint(t, at, []byte(local.Replace(content)))
			for _, m := range usesLine.FindAllStringSubmatch(content, -1) {
				name, version, _ := strings.Cut(m[1], "@")
				major, _, _ := strings.Cut(pinned[name], ".")
				switch {
				case strings.HasPrefix(name, "org/mcpeval-guidance"):
					if version != "v1" {
						t.Errorf("%s: %s", at, m[1])
					}
				case major != "" && version != major:
					t.Errorf("%s: uses %s, our own workflows use %s", at, m[1], pinned[name])
				}
			}
		}
	}
	if recipes < 15 {
		t.Errorf("only %d recipes found", recipes)
	}
}

func indent(text, by string) string {
	var out bytes.Buffer
	for line := range strings.Lines(text) {
		out.WriteString(by + line)
	}
	return out.String()
}

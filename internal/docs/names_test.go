package docs

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/options"
	"github.com/org/mcpeval-guidance/internal/profile"
	"github.com/org/mcpeval-guidance/schema"
)

var (
	helpFlag = regexp.MustCompile(`(?m)^ +(?:-h, )?--([a-z-]+)`)
	anyFlag  = regexp.MustCompile(`(?:^|[^a-zA-Z0-9-])--([a-z][a-z-]*)`)
)

// foreign are flags of other programs in the documentation.
var foreign = []string{
	"from",                                                            // uvx
	"rm", "network", "entrypoint", "volume", "workdir", "tag", "file", // docker
	"silent", "output", "retry", "retry-delay", "retry-connrefused", // curl
	"repo", "dir", "pattern", // gh
	"check", "ignore-missing", "strict", // sha256sum
	"no-install-recommends", // apt-get
	"read-only", "toolsets", // servers of the recipes
	"flag", // the contract's word for any
}

// TestFlags: every flag of the binary is in the command line's page, as
// TestGeneratedSections sees to, and every flag that a page or an input names
// is one of the binary.
func TestFlags(t *testing.T) {
	ours := map[string]bool{}
	for _, command := range []string{"guidance", "demo"} {
		for _, m := range helpFlag.FindAllStringSubmatch(mcpeval(t, 0, command, "--help"), -1) {
			ours[m[1]] = true
		}
	}
	if len(ours) < 12 {
		t.Fatalf("the help names only the flags %q", slices.Sorted(maps.Keys(ours)))
	}
	page := read(t, "docs/cli.md")
	for name := range ours {
		if !strings.Contains(page, "--"+name) {
			t.Errorf("docs/cli.md lacks --%s", name)
		}
	}
	for _, document := range append(slices.Clone(documents), "action.yml") {
		for _, m := range anyFlag.FindAllStringSubmatch(read(t, document), -1) {
			if !ours[m[1]] && !slices.Contains(foreign, m[1]) {
				t.Errorf("%s names --%s, which is no flag", document, m[1])
			}
		}
	}
}

// TestInputsInAdvice: where advice, messages and help name an input, it is one.
func TestInputsInAdvice(t *testing.T) {
	inputs := readAction(t, "action.yml").inputNames()
	named := regexp.MustCompile(`\(input ([a-z-]+)`)
	for _, document := range []string{"docs/diagnoses.md", "internal/diagnosis/diagnosis.go", "internal/options/options.go", "internal/options/config.go"} {
		for _, m := range named.FindAllStringSubmatch(read(t, document), -1) {
			if !slices.Contains(inputs, m[1]) {
				t.Errorf("%s names the input %s, which action.yml lacks", document, m[1])
			}
		}
	}
}

// sources are the Go files of the product.
func sources(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(filepath.Join(root, "internal"), func(path string, entry os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			relative, _ := filepath.Rel(root, path)
			files = append(files, relative)
		}
		return err
	})
	if err != nil || len(files) < 20 {
		t.Fatal(len(files), err)
	}
	return files
}

// TestEnvironment: every variable of ours that a page names is read somewhere.
func TestEnvironment(t *testing.T) {
	var code strings.Builder
	for _, file := range append(sources(t), ".github/actions/host/install.sh", "Dockerfile") {
		code.WriteString(read(t, file))
	}
	variable := regexp.MustCompile(`MCPEVAL_[A-Z_]+`)
	for _, document := range documents {
		for _, name := range variable.FindAllString(read(t, document), -1) {
			// What follows MCPEVAL_INPUT_ is made from an input's id.
			if strings.HasPrefix(name, "MCPEVAL_INPUT_") {
				name = "MCPEVAL_INPUT_"
			}
			if !strings.Contains(code.String(), name) {
				t.Errorf("%s names %s, which nothing reads", document, name)
			}
		}
	}
}

// TestIssueForm: the form for incomplete runs offers every diagnosis code.
func TestIssueForm(t *testing.T) {
	var want []string
	for _, e := range diagnosis.Entries() {
		want = append(want, string(e.Code))
	}
	want = append(want, "none of these")
	var form struct {
		Body []struct {
			ID         string
			Attributes struct{ Options []string }
		}
	}
	decode(t, ".github/ISSUE_TEMPLATE/incomplete-run.yml", &form)
	for _, field := range form.Body {
		if field.ID == "code" {
			if !slices.Equal(field.Attributes.Options, want) {
				t.Errorf("the form offers %q, want %q", field.Attributes.Options, want)
			}
			return
		}
	}
	t.Error("the form does not ask for the code")
}

var firstCell = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (.*) \\|$")

// TestReportKeys: the page lists the keys of each report's schema, in order.
func TestReportKeys(t *testing.T) {
	_, prose := fences(t, "docs/report.md")
	for _, report := range []struct {
		heading string
		schema  []byte
	}{
		{"Report v1", schema.Guidance},
		{"Report v2", schema.GuidanceV2},
	} {
		var document struct{ Required []string }
		if err := json.Unmarshal(report.schema, &document); err != nil || len(document.Required) == 0 {
			t.Fatal(err, document)
		}
		_, section, _ := strings.Cut(prose, "\n## "+report.heading+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		var keys []string
		for _, m := range firstCell.FindAllStringSubmatch(section, -1) {
			keys = append(keys, m[1])
		}
		if !slices.Equal(keys, document.Required) {
			t.Errorf("docs/report.md: %s has the keys %q, the schema %q", report.heading, keys, document.Required)
		}
	}
}

// TestProfiles: the page shows what each profile declares.
func TestProfiles(t *testing.T) {
	var names []string
	for _, m := range firstCell.FindAllStringSubmatch(read(t, "docs/how-it-works.md"), -1) {
		names = append(names, m[1])
		p, ok := profile.Parse(m[1])
		shown := strings.ReplaceAll(strings.Trim(m[2], "`"), " ", "")
		if ok && p != profile.All && shown != p.Capabilities(false) {
			t.Errorf("docs/how-it-works.md has %s for %s, the code %s", shown, p, p.Capabilities(false))
		}
	}
	var want []string
	for _, p := range profile.Every() {
		want = append(want, string(p))
	}
	if !slices.Equal(names, want) {
		t.Errorf("docs/how-it-works.md has the profiles %q, want %q", names, want)
	}
}

// TestNumbers: limits that pages state in words are those of the code.
func TestNumbers(t *testing.T) {
	if options.DefaultSettleMS != 1500 {
		t.Error("README.md (1.5 seconds) and docs/how-it-works.md (1500 ms) state the settle window")
	}
	if options.DefaultTimeoutMS != 60000 {
		t.Error("docs/recipes.md states the timeout: a minute")
	}
}

// TestTwoCommands: the two commands of a newcomer are the same everywhere,
// and CI runs the second.
func TestTwoCommands(t *testing.T) {
	const main, test = "go run . demo\n", "go test -race -shuffle=on -count=1 ./...\n"
	for _, document := range []string{"README.md", "CONTRIBUTING.md"} {
		blocks, _ := fences(t, document)
		if !slices.ContainsFunc(blocks, func(b fence) bool { return b.text == main+test }) {
			t.Errorf("%s lacks the two commands", document)
		}
	}
	if !strings.HasSuffix(read(t, ".ci/run"), "\nexec "+test) {
		t.Error(".ci/run does not end with the test command")
	}
}

// TestLayout: the layout in CONTRIBUTING.md names every package, and nothing
// else.
func TestLayout(t *testing.T) {
	blocks, _ := fences(t, "CONTRIBUTING.md")
	inLayout := regexp.MustCompile(`(?m)^  ([a-z0-9]+)/ `)
	for _, b := range blocks {
		if !strings.Contains(b.text, "\ninternal/\n") {
			continue
		}
		var named []string
		for _, m := range inLayout.FindAllStringSubmatch(b.text, -1) {
			named = append(named, m[1])
		}
		entries, err := os.ReadDir(filepath.Join(root, "internal"))
		if err != nil {
			t.Fatal(err)
		}
		var there []string
		for _, e := range entries {
			if e.IsDir() {
				there = append(there, e.Name())
			}
		}
		slices.Sort(named)
		if !slices.Equal(named, there) {
			t.Errorf("CONTRIBUTING.md has %q, internal %q", named, there)
		}
		return
	}
	t.Error("CONTRIBUTING.md has no layout")
}

// TestDependencies: the table in CONTRIBUTING.md names the direct
// dependencies of go.mod.
func TestDependencies(t *testing.T) {
	_, prose := fences(t, "CONTRIBUTING.md")
	_, section, _ := strings.Cut(prose, "\n## Dependencies\n")
	section, _, _ = strings.Cut(section, "\n## ")
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`([a-z.]+\\.[a-z]+/[a-zA-Z0-9/.-]+)`").FindAllStringSubmatch(section, -1) {
		named[m[1]] = true
	}
	direct := regexp.MustCompile(`(?m)^\t([^ ]+) v[^ ]+$`)
	for _, m := range direct.FindAllStringSubmatch(read(t, "go.mod"), -1) {
		if !named[m[1]] {
			t.Errorf("CONTRIBUTING.md does not say why %s is there", m[1])
		}
	}
	all := read(t, "go.mod")
	for name := range named {
		if !strings.Contains(all, "\t"+name+" v") {
			t.Errorf("CONTRIBUTING.md names %s, which go.mod lacks", name)
		}
	}
}

// Package house has no code: its tests hold the rules that no single package
// can hold, such as who may import whom.
package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/mcpeval-guidance/internal/diagnosis"
)

const (
	root   = "../.."
	module = "github.com/org/mcpeval-guidance"
)

// systems are those that a release is built for: each has files of its own.
var systems = []string{"linux", "darwin", "windows"}

// imports is who imports whom, without tests, from the bottom up: a package may
// import only those above it in this list. An arrow that is allowed and unused
// is an error too.
var imports = []struct {
	name string
	from []string
}{
	{"internal/crash", nil},
	{"internal/demo", nil},
	{"internal/name", nil},
	{"internal/proc", nil},
	{"internal/profile", nil},
	{"internal/protocol", nil},
	{"internal/strictjson", nil},
	{"schema", nil},
	{"scripts/bench", nil},
	{"internal/diagnosis", []string{"internal/name", "internal/protocol"}},
	{"internal/mcp", []string{"internal/diagnosis", "internal/name", "internal/proc", "internal/protocol", "internal/strictjson"}},
	{"internal/reference", []string{"internal/name", "internal/strictjson"}},
	{"internal/locate", []string{"internal/reference"}},
	{"internal/observe", []string{"internal/diagnosis", "internal/name", "internal/profile", "internal/protocol", "internal/reference"}},
	{"internal/configfile", []string{"internal/name"}},
	{"internal/options", []string{"internal/configfile", "internal/name", "internal/profile", "internal/protocol"}},
	{"internal/discover", []string{"internal/crash", "internal/diagnosis", "internal/mcp", "internal/name", "internal/observe", "internal/options", "internal/proc", "internal/profile", "internal/protocol", "internal/reference", "internal/strictjson"}},
	{"internal/detect", []string{"internal/name", "internal/observe", "internal/reference"}},
	{"internal/result", []string{"internal/detect", "internal/diagnosis", "internal/name", "internal/observe", "internal/protocol", "internal/reference"}},
	{"internal/check", []string{"internal/discover", "internal/observe", "internal/options", "internal/proc", "internal/reference", "internal/result"}},
	{"internal/render", []string{"internal/detect", "internal/diagnosis", "internal/name", "internal/observe", "internal/profile", "internal/protocol", "internal/result"}},
	{"internal/wire", []string{"internal/detect", "internal/diagnosis", "internal/name", "internal/observe", "internal/profile", "internal/protocol", "internal/result", "schema"}},
	{"internal/action", []string{"internal/check", "internal/crash", "internal/detect", "internal/locate", "internal/name", "internal/observe", "internal/options", "internal/proc", "internal/render", "internal/result", "internal/wire"}},
	{"internal/cli", []string{"internal/action", "internal/check", "internal/crash", "internal/demo", "internal/name", "internal/observe", "internal/options", "internal/proc", "internal/protocol", "internal/render", "internal/result", "internal/wire", "schema"}},
	{"", []string{"internal/cli"}},
}

func mayImport(name string) (from []string, listed bool) {
	for _, row := range imports {
		if row.name == name {
			return row.from, true
		}
	}
	return nil, false
}

// onlyIn has the libraries that one package alone may import.
var onlyIn = map[string]string{
	"github.com/alecthomas/kong":            "internal/cli",
	"github.com/hashicorp/go-envparse":      "internal/configfile",
	"github.com/tailscale/hujson":           "internal/configfile",
	"github.com/sethvargo/go-githubactions": "internal/action",
}

// pure are the packages that must not reach out of the process, and what they
// may have of the standard library.
var pure = map[string][]string{
	"internal/name":       {"strings"},
	"internal/protocol":   {},
	"internal/profile":    {},
	"internal/diagnosis":  {"fmt", "math", "strings"},
	"internal/strictjson": {"bytes", "cmp", "hash/maphash", "slices", "strings", "unicode/utf8"},
	"internal/reference":  {"cmp", "hash/maphash", "iter", "slices", "strings", "sync", "sync/atomic", "unicode", "unicode/utf8"},
	"internal/observe":    {"iter", "maps", "math/bits"},
	"internal/detect":     {"cmp", "slices"},
	"internal/result":     {"slices"},
	"internal/render":     {"bytes", "cmp", "crypto/sha256", "encoding/hex", "encoding/json", "fmt", "math/bits", "net/url", "slices", "strconv", "strings"},
	"schema":              {"embed"},
}

// The direct dependencies, each with its reason in CONTRIBUTING.md.
var (
	productDependencies = []string{
		"github.com/alecthomas/kong",
		"github.com/hashicorp/go-envparse",
		"github.com/kballard/go-shellquote",
		"github.com/sethvargo/go-githubactions",
		"github.com/tailscale/hujson",
		"github.com/xeipuuv/gojsonschema",
		"golang.org/x/sys",
		"golang.org/x/term",
	}
	testDependencies = []string{
		"github.com/google/go-cmp",
		"github.com/modelcontextprotocol/go-sdk",
		"github.com/rhysd/actionlint",
		"github.com/rogpeppe/go-internal",
		"go.yaml.in/yaml/v4",
	}
)

// goTool runs the go command in the module's root.
func goTool(t *testing.T, system string, args ...string) []byte {
	t.Helper()
	command := exec.Command("go", args...)
	command.Dir = root
	command.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	if system == "" {
		command.Env = os.Environ()
	}
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s%s", strings.Join(args, " "), err, stderr.Bytes(), out)
	}
	return out
}

// goPackage is what go list says of a package.
type goPackage struct {
	ImportPath   string
	Standard     bool
	Imports      []string
	TestImports  []string
	XTestImports []string
	Module       *struct{ Path string }
}

// name is the package's folder in the module.
func (p goPackage) name() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
}

func (p goPackage) ours() bool { return p.Module != nil && p.Module.Path == module }

// packages returns those of the module and, by import path, all they need.
func packages(t *testing.T, system string) (ours []goPackage, all map[string]goPackage) {
	t.Helper()
	all = map[string]goPackage{}
	decoder := json.NewDecoder(bytes.NewReader(goTool(t, system, "list", "-deps", "-test",
		"-json=ImportPath,Standard,Imports,TestImports,XTestImports,Module", "./...")))
	for {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p
		// The variants that are built for a test repeat what is known.
		if p.ours() && !strings.ContainsAny(p.ImportPath, " ") && !strings.HasSuffix(p.ImportPath, ".test") {
			ours = append(ours, p)
		}
	}
	if len(ours) < len(imports) {
		t.Fatalf("go list knows %d packages", len(ours))
	}
	return ours, all
}

func TestImports(t *testing.T) {
	t.Parallel()
	above := map[string]bool{}
	for _, row := range imports {
		for _, from := range row.from {
			if !above[from] {
				t.Errorf("%s imports %s, which is not above it in the table", row.name, from)
			}
		}
		above[row.name] = true
	}
	used := map[[2]string]bool{}
	for _, system := range systems {
		ours, all := packages(t, system)
		for _, p := range ours {
			allowed, listed := mayImport(p.name())
			if !listed && len(p.Imports) > 0 {
				t.Errorf("%s is new: say in the table whom it imports", p.name())
			}
			for _, path := range p.Imports {
				imported := all[path]
				if imported.ours() {
					used[[2]string{p.name(), imported.name()}] = true
					if !slices.Contains(allowed, imported.name()) {
						t.Errorf("%s must not import %s", p.name(), imported.name())
					}
				}
				if std, ok := pure[p.name()]; ok && imported.Standard && !slices.Contains(std, path) {
					t.Errorf("%s must stay pure, without %s", p.name(), path)
				}
			}
			for _, path := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
				for library, user := range onlyIn {
					if (path == library || strings.HasPrefix(path, library+"/")) && p.name() != user {
						t.Errorf("%s imports %s, which only %s may", p.name(), path, user)
					}
				}
			}
		}
	}
	for _, row := range imports {
		for _, from := range row.from {
			if !used[[2]string{row.name, from}] {
				t.Errorf("%s no longer imports %s: take it out of the table", row.name, from)
			}
		}
	}
}

var update = flag.Bool("update", false, "rewrite what is generated from the tables here")

// CONTRIBUTING.md has the table as a list.
func TestImportsInContributing(t *testing.T) {
	var want strings.Builder
	want.WriteString("\n")
	for i := len(imports) - 1; i >= 0; i-- {
		name, from := imports[i].name, "nothing of ours"
		if name == "" {
			name = "main.go"
		}
		if len(imports[i].from) > 0 {
			from = "`" + strings.ReplaceAll(strings.Join(imports[i].from, "`, `"), "internal/", "") + "`"
		}
		fmt.Fprintf(&want, "- `%s`: %s\n", strings.TrimPrefix(name, "internal/"), from)
	}
	want.WriteString("\n")
	path := filepath.Join(root, "CONTRIBUTING.md")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(content), "<!-- imports: generated from internal/house -->\n")
	old, after, found := strings.Cut(rest, "<!-- /imports -->")
	switch {
	case !found:
		t.Fatal("CONTRIBUTING.md has no markers for the imports")
	case old == want.String():
	case *update:
		text := before + "<!-- imports: generated from internal/house -->\n" + want.String() + "<!-- /imports -->" + after
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("run go test ./internal/house -update (- in CONTRIBUTING.md, + in the table):\n%s", cmp.Diff(old, want.String()))
	}
}

// modulesOf returns the modules that the import paths belong to, without ours
// and the standard library.
func modulesOf(all map[string]goPackage, paths []string) map[string]bool {
	modules := map[string]bool{}
	for _, path := range paths {
		if p := all[path]; p.Module != nil && !p.ours() {
			modules[p.Module.Path] = true
		}
	}
	return modules
}

func TestImportedModules(t *testing.T) {
	t.Parallel()
	product, tests := map[string]bool{}, map[string]bool{}
	for _, system := range systems {
		ours, all := packages(t, system)
		for _, p := range ours {
			maps.Copy(product, modulesOf(all, p.Imports))
			maps.Copy(tests, modulesOf(all, slices.Concat(p.TestImports, p.XTestImports)))
		}
	}
	if diff := cmp.Diff(productDependencies, slices.Sorted(maps.Keys(product))); diff != "" {
		t.Errorf("modules that the product imports:\n%s", diff)
	}
	for _, path := range slices.Sorted(maps.Keys(tests)) {
		if !slices.Contains(productDependencies, path) && !slices.Contains(testDependencies, path) {
			t.Errorf("tests import %s, which is not on the list", path)
		}
	}
}

func TestDirectDependencies(t *testing.T) {
	t.Parallel()
	var mod struct {
		Module  struct{ Path string }
		Require []struct {
			Path     string
			Indirect bool
		}
		Replace, Exclude, Tool []any
	}
	if err := json.Unmarshal(goTool(t, "", "mod", "edit", "-json"), &mod); err != nil {
		t.Fatal(err)
	}
	var direct []string
	for _, r := range mod.Require {
		if !r.Indirect {
			direct = append(direct, r.Path)
		}
	}
	slices.Sort(direct)
	want := slices.Concat(productDependencies, testDependencies)
	slices.Sort(want)
	if diff := cmp.Diff(want, direct); diff != "" {
		t.Errorf("direct dependencies in go.mod:\n%s", diff)
	}
	// go install module@version refuses a go.mod with a replace.
	if mod.Module.Path != module || len(mod.Replace)+len(mod.Exclude)+len(mod.Tool) != 0 {
		t.Errorf("module %s, replace %v, exclude %v, tool %v", mod.Module.Path, mod.Replace, mod.Exclude, mod.Tool)
	}
	reasons, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range want {
		if !bytes.Contains(reasons, []byte("`"+path+"`")) {
			t.Errorf("CONTRIBUTING.md gives no reason for %s", path)
		}
	}
}

func TestTidy(t *testing.T) {
	t.Parallel()
	if diff := goTool(t, "", "mod", "tidy", "-diff"); len(diff) > 0 {
		t.Errorf("go mod tidy would change:\n%s", diff)
	}
}

func TestVet(t *testing.T) {
	t.Parallel()
	goTool(t, "", "vet", "./...")
}

// goFiles returns the Go files below a folder of the module.
func goFiles(t *testing.T, folder string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if err == nil && !entry.IsDir() && strings.HasSuffix(path, ".go") {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", folder, len(files), err)
	}
	return files
}

func TestFormat(t *testing.T) {
	t.Parallel()
	for _, file := range goFiles(t, ".") {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if formatted, err := format.Source(source); err != nil || !bytes.Equal(source, formatted) {
			t.Errorf("%s: gofmt would change it (%v)", file, err)
		}
	}
}

// constants returns the constants of package diagnosis by their type, with
// their values where those are texts.
func constants(t *testing.T) map[string]map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "internal/diagnosis/diagnosis.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	byType := map[string]map[string]string{}
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		of := ""
		for _, spec := range group.Specs {
			value := spec.(*ast.ValueSpec)
			if value.Type != nil {
				of = fmt.Sprint(value.Type)
			}
			text := ""
			if len(value.Values) == 1 {
				if literal, ok := value.Values[0].(*ast.BasicLit); ok && literal.Kind == token.STRING {
					text, _ = strconv.Unquote(literal.Value)
				}
			}
			if byType[of] == nil {
				byType[of] = map[string]string{}
			}
			byType[of][value.Names[0].Name] = text
		}
	}
	return byType
}

// used returns the names of package diagnosis that the folders' code uses.
func used(t *testing.T, folders ...string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, folder := range folders {
		for _, path := range goFiles(t, folder) {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(node ast.Node) bool {
				if selector, ok := node.(*ast.SelectorExpr); ok && fmt.Sprint(selector.X) == "diagnosis" {
					names[selector.Sel.Name] = true
				}
				return true
			})
		}
	}
	return names
}

// The list of diagnoses has each code that is used, and no other.
func TestDiagnosisCodes(t *testing.T) {
	t.Parallel()
	listed := map[string]bool{}
	for _, entry := range diagnosis.Entries() {
		listed[string(entry.Code)] = true
	}
	of := constants(t)
	if len(of["Code"]) < 20 || len(of["Stage"]) != 5 || len(of["Circumstance"]) < 10 {
		t.Fatalf("found %d codes, %d stages, %d circumstances", len(of["Code"]), len(of["Stage"]), len(of["Circumstance"]))
	}
	inCode := used(t, "internal/mcp", "internal/discover", "internal/result")
	for name, code := range of["Code"] {
		if !listed[code] {
			t.Errorf("%s (%s) has no entry", name, code)
		}
		if !inCode[name] {
			t.Errorf("%s (%s) is never given", name, code)
		}
		delete(listed, code)
	}
	for code := range listed {
		t.Errorf("%s has an entry, but no constant", code)
	}
	for _, kind := range []string{"Stage", "Circumstance"} {
		for name := range of[kind] {
			if !inCode[name] {
				t.Errorf("%s %s is never given", kind, name)
			}
		}
	}
}

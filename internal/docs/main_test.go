// Package docs holds tests only: they keep the documentation, the workflows,
// the action files and the code equal. It must never test what the product
// does; other packages do that.
package docs

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the generated parts of the documentation")

// root is the repository's folder.
const root = "../.."

// documents are all pages for people.
var documents = []string{
	"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md",
	"docs/cases.md", "docs/cli.md", "docs/clients.md", "docs/contract.md", "docs/diagnoses.md",
	"docs/how-it-works.md", "docs/recipes.md", "docs/report.md", "docs/security.md",
}

// binary is the program, built once for all tests.
var binary string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "mcpeval-docs")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		binary = filepath.Join(dir, "mcpeval")
		if runtime.GOOS == "windows" {
			binary += ".exe"
		}
		build := exec.Command("go", "build", "-buildvcs=false", "-ldflags", "-X github.com/org/mcpeval-guidance/internal/cli.release=1.0.0", "-o", binary, ".")
		build.Dir = root
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// read returns a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// mcpeval runs the binary and returns what it prints.
func mcpeval(t *testing.T, status int, args ...string) string {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Env = append(os.Environ(), "COLUMNS=80", "NO_COLOR=1")
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != status {
		t.Fatalf("mcpeval %s: exit status %d, want %d\n%s", strings.Join(args, " "), got, status, errOut.String())
	}
	return out.String()
}

// everyDocument is complete, so that no page goes untested.
func TestDocumentsAreListed(t *testing.T) {
	var found []string
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		names, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			relative, _ := filepath.Rel(root, name)
			found = append(found, filepath.ToSlash(relative))
		}
	}
	for _, name := range found {
		if !slices.Contains(documents, name) {
			t.Errorf("%s is not in the list of documents", name)
		}
	}
	if len(found) != len(documents) {
		t.Errorf("found %d documents, the list has %d", len(found), len(documents))
	}
}

// fence is a fenced code block of a document.
type fence struct {
	document string
	line     int // of its first line of content
	language string
	text     string
}

var fenceStart = regexp.MustCompile("^(`{3,})([a-z]*)$")

// fences returns the code blocks of a document, and the document with them
// blanked out, line for line.
func fences(t *testing.T, document string) (blocks []fence, rest string) {
	t.Helper()
	var prose []string
	var open *fence
	var ticks string
	for i, line := range strings.Split(read(t, document), "\n") {
		switch start := fenceStart.FindStringSubmatch(line); {
		case open == nil && start != nil:
			ticks, open = start[1], &fence{document: document, line: i + 2, language: start[2]}
			line = ""
		case open != nil && line == ticks:
			blocks, open = append(blocks, *open), nil
			line = ""
		case open != nil:
			open.text += line + "\n"
			line = ""
		}
		prose = append(prose, line)
	}
	if open != nil {
		t.Errorf("%s: the code block at line %d is not closed", document, open.line)
	}
	return blocks, strings.Join(prose, "\n")
}

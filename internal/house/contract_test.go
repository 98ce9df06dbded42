package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	heading  = regexp.MustCompile(`(?m)^#{2,3} (\d+(?:\.\d+)?)`)
	citation = regexp.MustCompile(`(?i)contract(?:\.md)?(?:'s)?,? (?:sections? )?(\d(?:[\d., ]|and|to)*)`)
	number   = regexp.MustCompile(`\d+(?:\.\d+)?`)
	row      = regexp.MustCompile(`(?m)^\| (\d+) \|`)
)

// Comments cite the sections of docs/contract.md as "CONTRACT.md section 4.3":
// each must exist.
func TestCitedSections(t *testing.T) {
	t.Parallel()
	contract, err := os.ReadFile(filepath.Join(root, "docs/contract.md"))
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]bool{}
	for _, match := range heading.FindAllSubmatch(contract, -1) {
		sections[string(match[1])] = true
	}
	if len(sections) < 20 {
		t.Fatalf("docs/contract.md has %d sections", len(sections))
	}
	citations := 0
	for _, file := range goFiles(t, ".") {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		// A citation may go on in the next line of a comment.
		text := strings.NewReplacer("\n// ", " ", "\n\t// ", " ", "\n\t\t// ", " ").Replace(string(source))
		for _, match := range citation.FindAllStringSubmatch(text, -1) {
			for _, section := range number.FindAllString(match[1], -1) {
				citations++
				if !sections[section] {
					t.Errorf("%s cites section %s of the contract, which is not there", file, section)
				}
			}
		}
	}
	if citations < 40 {
		t.Errorf("found %d citations", citations)
	}
}

// Rows of tests cite the cases from the field by number: docs/cases.md must
// have each, once.
func TestCases(t *testing.T) {
	t.Parallel()
	cases, err := os.ReadFile(filepath.Join(root, "docs/cases.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := row.FindAllSubmatch(cases, -1)
	for i, match := range rows {
		if string(match[1]) != strconv.Itoa(i+1) {
			t.Errorf("row %d is case %s", i+1, match[1])
		}
	}
	cited := regexp.MustCompile(`// (?:case )?(\d+(?:, \d+)*)\n`)
	for _, file := range goFiles(t, "internal") {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range cited.FindAllSubmatch(source, -1) {
			for _, n := range number.FindAllString(string(match[1]), -1) {
				if k, _ := strconv.Atoi(n); k < 1 || k > len(rows) {
					t.Errorf("%s cites case %s, and there are %d", file, n, len(rows))
				}
			}
		}
	}
}

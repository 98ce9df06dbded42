package docs

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link       = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	inlineCode = regexp.MustCompile("`+[^`]*`+")
	heading    = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
	notInSlug  = regexp.MustCompile(`[^a-z0-9 _-]`)
)

// anchors are the ids that GitHub gives to the headings of a document.
func anchors(t *testing.T, document string) map[string]bool {
	t.Helper()
	_, prose := fences(t, document)
	ids := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(prose, -1) {
		slug := notInSlug.ReplaceAllString(strings.ToLower(m[1]), "")
		slug = strings.ReplaceAll(slug, " ", "-")
		if ids[slug] {
			t.Errorf("%s has two headings with the id %s", document, slug)
		}
		ids[slug] = true
	}
	return ids
}

// TestLinks: links inside the repository lead to a file and a heading that
// are there.
func TestLinks(t *testing.T) {
	const ourBlob = "https://github.com/org/mcpeval-guidance/blob/main/"
	check := func(document, target string) {
		if rest, ok := strings.CutPrefix(target, ourBlob); ok {
			target = "/" + rest
		}
		if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
			return
		}
		file, anchor, _ := strings.Cut(target, "#")
		switch {
		case file == "":
			file = document
		case strings.HasPrefix(file, "/"):
			file = file[1:]
		default:
			file = path.Join(path.Dir(document), file)
		}
		if _, err := os.Stat(filepath.Join(root, file)); err != nil {
			t.Errorf("%s links to %s, which is not there", document, target)
			return
		}
		if anchor != "" && (!strings.HasSuffix(file, ".md") || !anchors(t, file)[anchor]) {
			t.Errorf("%s links to %s, which has no such heading", document, target)
		}
	}
	links := 0
	for _, document := range documents {
		_, prose := fences(t, document)
		// A code span in a link's text is no place for a link of its own.
		prose = inlineCode.ReplaceAllStringFunc(prose, func(code string) string {
			return strings.NewReplacer("(", " ", ")", " ").Replace(code)
		})
		for _, m := range link.FindAllStringSubmatch(prose, -1) {
			check(document, m[1])
			links++
		}
	}
	forms, err := filepath.Glob(filepath.Join(root, ".github/ISSUE_TEMPLATE/*.yml"))
	if err != nil || len(forms) == 0 {
		t.Fatal(err, forms)
	}
	for _, form := range forms {
		name, _ := filepath.Rel(root, form)
		for _, m := range link.FindAllStringSubmatch(read(t, name), -1) {
			check(filepath.ToSlash(name), m[1])
		}
	}
	if links < 30 {
		t.Errorf("only %d links found", links)
	}
}

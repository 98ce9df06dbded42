//go:build unix

package locate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// glued is served as a JavaScript source puts it together, folder is that
// file, and prose the same sentence as a document has it.
const (
	glued = "export const text =\n  'Use `search_docs` to find a page ' +\n  'by its words before anything else.\\n' +\n" +
		"  'When the workspace is empty, call `import_pages` with a folder, then wait.\\n' +\n  'Never call `drop_pages` without asking the person first; it removes everything.\\n';\n"
	wrapped = "Use `search_docs` to\nfind a page by its words before anything else. When the\nworkspace is empty, call `import_pages` with a folder, then wait.\n"
)

// TestTraps: where a text, or nearly the same, stands more than once.
func TestTraps(t *testing.T) {
	t.Parallel()
	interpolated := strings.NewReplacer("`search_docs`", "`${T.search}`", "'", "`").Replace(strings.ReplaceAll(glued, "`", "\\`"))
	for _, row := range []struct {
		name  string
		files map[string]string
		want  string // for search_docs
	}{
		{"source alone", map[string]string{"src/a.js": glued}, "src/a.js:2"},
		{"two sources", map[string]string{"src/a.js": glued, "src/b.js": glued}, ""},
		{"a document has the text too", map[string]string{"src/a.js": glued, "README.md": wrapped}, ""},
		{"a test has the text too", map[string]string{"src/a.js": glued, "test/a.test.js": glued}, ""},
		{"a document has the whole line, the source glues it", map[string]string{"src/a.js": glued, "README.md": served}, ""},
		{"a document has more of the text than the source", map[string]string{"src/a.js": strings.Join(strings.SplitAfter(glued, "\n")[:3], "\n"), "docs/all.md": served}, ""},
		{"a document has the line, no source has it", map[string]string{"README.md": served}, "README.md:1"},
		{"two documents", map[string]string{"README.md": wrapped, "docs/a.md": wrapped}, ""},
		{"the whole line in a prompt, glued in another source", map[string]string{"prompt.md": served, "src/a.js": glued}, "prompt.md:1"},
		{"interpolated, and a document", map[string]string{"src/a.js": interpolated, "README.md": wrapped}, ""},
		{"interpolated, and less in a document", map[string]string{"src/a.js": interpolated, "README.md": "Use `search_docs` to find a page by its words.\n"}, "src/a.js:2"},
		{"an earlier wording in a change log", map[string]string{"src/a.js": glued, "CHANGELOG.md": "* Use `search_docs` to find a page by its title before you give up.\n"}, "src/a.js:2"},
		{"a translation", map[string]string{"src/a.js": glued, "src/de.js": "'Benutze `search_docs`, um eine Seite zu finden, bevor du etwas anderes tust.'"}, "src/a.js:2"},
		{"the same sentence for another tool", map[string]string{"src/a.js": glued, "src/b.js": strings.ReplaceAll(glued, "search_docs", "search_notes")}, "src/a.js:2"},
		{"only for another tool", map[string]string{"src/b.js": strings.ReplaceAll(glued, "search_docs", "search_notes")}, ""},
		{"only for a longer name", map[string]string{"src/b.js": strings.ReplaceAll(glued, "search_docs", "search_docs_all")}, ""},
		{"only for a name with a dash before", map[string]string{"src/b.js": strings.ReplaceAll(glued, "search_docs", "my-search_docs")}, ""},
		{"in other words", map[string]string{"src/b.js": strings.ReplaceAll(glued, "search_docs", "search docs")}, ""},
		{"half of the sentence", map[string]string{"src/a.js": "'Use `search_docs` to find a ' + noun\n"}, ""},
		{"a template for any tool", map[string]string{"src/a.js": "`Use ${tool} to find a page.`\n"}, ""},
		{"a name that is everywhere", map[string]string{"src/a.js": glued, "src/b.js": strings.Repeat("call('search_docs');\n", 20000)}, "src/a.js:2"},
		{"beside what is built", map[string]string{"src/a.js": glued, "dist/a.js": "var a=" + glued}, "src/a.js:2"},
		{"interpolated, beside what is built", map[string]string{"src/a.js": interpolated, "build/a.js": served}, "src/a.js:2"},
		{"beside two builds", map[string]string{"src/a.js": glued, "dist/a.js": glued, "dist/b.cjs": glued}, "src/a.js:2"},
		{"built alone", map[string]string{"build/index.js": glued}, "build/index.js:2"},
		{"built, with a trace in a source", map[string]string{"dist/a.js": glued, "src/a.js": "f('Use `search_docs` to find a page by ', g)\n"}, ""},
		{"attributes say generated", map[string]string{"src/a.js": glued, "lib/a.js": glued, ".gitattributes": "lib/** linguist-generated=true\n"}, "src/a.js:2"},
		{"attributes of a folder", map[string]string{"src/a.js": glued, "lib/a.js": glued, "lib/.gitattributes": "*.js linguist-generated\n"}, "src/a.js:2"},
		{"attributes say not generated", map[string]string{"dist/a.js": glued, ".gitattributes": "dist/* -linguist-generated\n"}, "dist/a.js:2"},
		{"attributes against the folder's name", map[string]string{"src/a.js": glued, "dist/a.js": glued, ".gitattributes": "dist/* linguist-generated=false\n"}, ""},
		{"a lock file", map[string]string{"src/a.js": glued, "package-lock.json": "{\"description\": \"" + strings.ReplaceAll(wrapped, "\n", " ") + "\"}"}, "src/a.js:2"},
		{"minified", map[string]string{"src/a.js": glued, "public/a.js": strings.Repeat("var a=1;", 4000) + strings.ReplaceAll(glued, "\n", "")}, "src/a.js:2"},
		{"a generator's header", map[string]string{"src/a.js": glued, "src/b.go": "// Code generated by x. DO NOT EDIT.\nconst a = \"" + strings.ReplaceAll(wrapped, "\n", "\\n") + "\"\n"}, "src/a.js:2"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got := find(t, repository(t, row.files), []Mention{{Key{Tool: "search_docs"}, contexts(served, "search_docs")}})
			if diff := shown(got["search_docs"]); diff != row.want {
				t.Errorf("%q, want %q", diff, row.want)
			}
		})
	}
}

// TestDescriptions: a text of its own for each description, and the key that
// the caller has chosen.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	dir := repository(t, map[string]string{"a.ts": "tool('a', 'Reads one page. Call `list_all` first, it knows the pages that there are in the workspace.');\n" +
		"tool('b', 'Writes one page. ' +\n  'Call list_all first, it knows what may be written without a question.');\n"})
	mention := func(of, text string) Mention { return Mention{Key{"list_all", of}, contexts(text, "list_all")} }
	r := List(t.Context(), dir, dir)
	defer r.Close()
	mentions := []Mention{
		mention("a", "Reads one page. Call `list_all` first, it knows the pages that there are in the workspace."),
		mention("b", "Writes one page. Call list_all first, it knows what may be written without a question."),
		mention("c", "Writes no page. Mind what `list_all` says of the workspace before you give up your work."),
	}
	got := r.Find(t.Context(), mentions, nil)
	if len(got) != 2 || shown(got[Key{"list_all", "a"}]) != "a.ts:1" || shown(got[Key{"list_all", "b"}]) != "a.ts:3" {
		t.Errorf("%v", got)
	}
	// The first reference of a named file is no place for a description.
	if got := r.Find(t.Context(), mentions[2:], []string{"a.ts"}); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

// TestNamedSurroundings: of several mentions in a named file the one whose
// surroundings agree, else the first.
func TestNamedSurroundings(t *testing.T) {
	t.Parallel()
	dir := repository(t, map[string]string{
		"a.md":          "Call `tool` when it rains.\n\n```\n`tool` in code\n```\n\nThen go on with `tool` as long\nas the sun is out, and no longer.\n",
		"b.md":          "Then go on with `tool` as long as the sun is out, and no longer.\n",
		"my notes/c.md": "x\n`tool`\n",
	})
	for _, row := range []struct {
		says  string
		named []string
		want  string
	}{
		{"Then go on with `tool` as long as the sun is out, and no longer.", []string{"a.md"}, "a.md:7"},
		{"Then go on with `tool` as long as the sun is out, and no longer.", []string{"b.md"}, "b.md:1"},
		{"Something else with `tool`, made by a program.", []string{"a.md", "b.md"}, "a.md:1"},
		{"Something else with `tool`, made by a program.", []string{"my notes/c.md"}, "my notes/c.md:2"},
	} {
		got := find(t, dir, []Mention{{Key{Tool: "tool"}, contexts(row.says, "tool")}}, row.named...)["tool"]
		if shown(got) != row.want {
			t.Errorf("%q in %q: %v, want %s", row.says, row.named, got, row.want)
		}
	}
}

// TestRepositoryOfWorkingDirectory: the repository that holds the server is
// searched, and its root is what files are relative to (case 34).
func TestRepositoryOfWorkingDirectory(t *testing.T) {
	t.Parallel()
	outer := repository(t, map[string]string{"a.md": line})
	alone := t.TempDir()
	for _, workspace := range []string{outer, alone} {
		put(t, workspace, "server/sub/b.md", "\n"+line)
		git(t, filepath.Join(workspace, "server"), "init", "-q")
		git(t, filepath.Join(workspace, "server"), "add", "-A")
	}
	inside := repository(t, map[string]string{"ws/c.md": line, "ws/sub/d.md": "x"})
	broken := repository(t, map[string]string{"a.md": line})
	put(t, broken, "sub/.git", "gitdir: /nowhere")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(alone, link); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name, workspace, dir, named, want string
	}{
		{"beside the workspace's", outer, "server/sub", "", "sub/b.md:2"},
		{"the workspace's", outer, "", "", "a.md:1"},
		{"checkout with a path", alone, "server", "", "sub/b.md:2"},
		{"checkout with a path, no working directory", alone, "", "", ""},
		{"through a link", link, "server/sub", "", "sub/b.md:2"},
		{"a named file, relative to the workspace", alone, "server", "server/sub/b.md", "sub/b.md:2"},
		{"a repository around the workspace", filepath.Join(inside, "ws"), "sub", "", "c.md:1"},
		{"a repository that is none", broken, "sub", "", "a.md:1"},
	} {
		r := List(t.Context(), row.workspace, filepath.Join(row.workspace, row.dir))
		var named []string
		if row.named != "" {
			named = []string{row.named}
		}
		if got := byTool(r.Find(t.Context(), mention, named))["tool"]; shown(got) != row.want {
			t.Errorf("%s: %v, want %q", row.name, got, row.want)
		}
		r.Close()
	}
}

// TestReplacedFolders: what a server puts into the place of a listed folder
// is not read, and git is not asked again.
func TestReplacedFolders(t *testing.T) {
	t.Parallel()
	dir := repository(t, map[string]string{"server/a.md": line, "other/a.md": "x"})
	r := List(t.Context(), dir, dir)
	defer r.Close()
	if err := os.Rename(filepath.Join(dir, "server"), filepath.Join(dir, "moved")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("moved", filepath.Join(dir, "server")); err != nil {
		t.Fatal(err)
	}
	os.RemoveAll(filepath.Join(dir, ".git"))
	if got := r.Find(t.Context(), mention, nil); len(got) > 0 {
		t.Errorf("through a link: %v", got)
	}
	whole := repository(t, map[string]string{"a.md": line})
	r = List(t.Context(), whole, whole)
	defer r.Close()
	if err := os.Rename(whole, whole+"-moved"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(whole + "-moved") })
	put(t, whole, "a.md", "\n\n\n"+line)
	if got := r.Find(t.Context(), mention, nil); shown(byTool(got)["tool"]) != "a.md:1" {
		t.Errorf("the folder is not the listed one: %v", got)
	}
}

// TestLinear: texts that are made to be slow take no longer than others (case 42).
func TestLinear(t *testing.T) {
	t.Parallel()
	sentence := "Use `x` to find a page by its words before anything else. "
	for name, text := range map[string]string{
		"ticks":          strings.Repeat("`a` x ", maxFile/6),
		"runs of ticks":  strings.Repeat("`` x `", maxFile/6),
		"names":          strings.Repeat("x ", maxFile/2),
		"the text":       strings.Repeat(sentence, maxFile/len(sentence)),
		"interpolations": strings.Repeat(strings.ReplaceAll(sentence, "`x`", "`${x}`"), maxFile/(len(sentence)+3)),
		"glue":           strings.Repeat("Use `\" + a.b.c", maxFile/14),
		"braces":         strings.Repeat("beforeanythingelseuse{{{", maxFile/24),
		"backslashes":    strings.Repeat("\\", maxFile-1),
		"escapes":        strings.Repeat("\\xc3\\u{", maxFile/7),
		"lines":          strings.Repeat("\n", maxFile),
		"fences":         strings.Repeat("```\n`x`\n", maxFile/8),
	} {
		t.Run(name, func(t *testing.T) {
			dir := repository(t, map[string]string{"a.md": text})
			mentions := []Mention{{Key{Tool: "x"}, contexts(sentence+sentence+sentence, "x")}}
			for _, named := range [][]string{nil, {"a.md"}} {
				r := List(t.Context(), dir, dir)
				began := time.Now()
				r.Find(t.Context(), mentions, named)
				if took := time.Since(began); took > maxTime*3/2 {
					t.Errorf("%v in %v", took, named)
				} else {
					t.Logf("%v in %v", took, named)
				}
				r.Close()
			}
		})
	}
}

// BenchmarkFind is the time for a tree of 20,000 files and 100 MiB.
func BenchmarkFind(b *testing.B) {
	dir := b.TempDir()
	r := &Repository{folders: map[string]bool{}, listed: true}
	var err error
	if r.root, err = os.OpenRoot(dir); err != nil {
		b.Fatal(err)
	}
	defer r.root.Close()
	source, err := os.ReadFile("search.go")
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat(string(source), 1+5000/len(source))[:5000]
	for i := range maxFiles {
		name := fmt.Sprintf("src/module%d/part%d/file%d.go", i%40, i%400, i)
		os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			b.Fatal(err)
		}
		r.files = append(r.files, name)
	}
	os.WriteFile(filepath.Join(dir, r.files[maxFiles/2]), []byte(text+glued), 0o666)
	for _, count := range []int{9, 1000, 10000} {
		b.Run(fmt.Sprintf("%d mentions", count), func(b *testing.B) {
			mentions := []Mention{{Key{Tool: "search_docs"}, contexts(served, "search_docs")}}
			for i := 1; i < count; i++ {
				tool := fmt.Sprintf("tool_%d", i)
				mentions = append(mentions, Mention{Key{Tool: tool}, contexts(fmt.Sprintf("Part %d reads the pages of a file. Then use `%s` for the places that have letters %d.", i, tool, i), tool)})
			}
			for b.Loop() {
				if got := r.Find(b.Context(), mentions, nil); len(got) != 1 {
					b.Fatalf("%v", got)
				}
			}
		})
	}
}

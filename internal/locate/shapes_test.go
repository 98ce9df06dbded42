//go:build unix

package locate

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// served is what the server of most of these files says.
const served = "Use `search_docs` to find a page by its words before anything else.\n" +
	"When the workspace is empty, call `import_pages` with a folder, then wait.\n" +
	"Never call `drop_pages` without asking the person first; it removes everything.\n"

// usual are the pieces of a file whose lines are the places.
var usual = map[string]string{"search_docs": "search_docs", "import_pages": "import_pages", "drop_pages": "drop_pages"}

// shape is a file in the form that a language or a format gives a text.
type shape struct {
	name, file, text string
	says             string            // what the server says of it; empty: what the file's own language makes of it
	at               map[string]string // by tool, what stands once in the file and on the line that is the place; empty: there is none
}

var shapes = []shape{
	{"markdown", "instructions.md", "# Guide\n\n" + served, served, usual},
	{"markdown, wrapped", "prompt.md", strings.ReplaceAll(served, " a ", "\na "), served, usual},
	{"markdown, escaped", "prompt.md", strings.ReplaceAll(strings.ReplaceAll(served, "_", `\_`), "`", ""), strings.ReplaceAll(served, "`", ""),
		map[string]string{"search_docs": `search\_docs`, "import_pages": `import\_pages`, "drop_pages": `drop\_pages`}},
	{"HTML entities", "page.html", "<p>\n" + strings.ReplaceAll(served, "`", "&quot;") + "</p>\n", strings.ReplaceAll(served, "`", "\""), usual},
	{"template literal", "a.mjs", "const INSTRUCTIONS = `\nUse \\`search_docs\\` to find a page by its words before anything else.\nWhen the workspace is empty, call \\`import_pages\\` with a folder, then wait.\nNever call \\`drop_pages\\` without asking the person first; it removes everything.\n`.trim();\n", "", usual},
	{"array joined", "a.mjs", "const INSTRUCTIONS = [\n  'Use `search_docs` to find a page by its words',\n  \"before anything else.\",\n  'When the workspace is empty, call `import_pages`', 'with a folder,',\n  'then wait.', 'Never call `drop_pages` without asking the person first;',\n  'it removes everything.',\n].join(' ');\n", "", usual},
	{"array of lines", "a.mjs", "const INSTRUCTIONS = [\n  'Use `search_docs` to find a page by its words before anything else.',\n  '',\n  '- When the workspace\\'s empty, call `import_pages` with a folder,\\t then wait.',\n  'Never call `drop_pages` \\u2014 don\\u2019t \\u00e9ven think of it \\x41 \\u{42}.',\n].join('\\n');\n", "", usual},
	{"pieces added", "a.mjs", "const INSTRUCTIONS =\n  \"Use `search_docs` to find a page by its words \" +\n  \"before anything else.\\n\" +\n  \"When the workspace is empty, call \" +\n  \"`import_pages` with a folder, then wait.\\n\" +\n  \"Never call `drop_pages` without asking the person first; it removes everything.\\n\";\n", "", usual},
	{"object interpolated", "a.mjs", "const TOOLS = { search: 'search_docs', load: 'import_pages', drop: 'drop_pages' };\nconst INSTRUCTIONS = `\nUse \\`${TOOLS.search}\\` to find a page by its words before anything else.\nWhen the workspace is empty, call \\`${TOOLS.load}\\` with a folder, then wait.\nNever call \\`${TOOLS.drop}\\` without asking the person first; it removes everything.\n`;\n", "",
		map[string]string{"search_docs": "${TOOLS.search}", "import_pages": "${TOOLS.load}", "drop_pages": "${TOOLS.drop}"}},
	{"constants added in", "a.mjs", "const SEARCH = 'search_docs', LOAD = 'import_pages', DROP = 'drop_pages';\nconst INSTRUCTIONS =\n  'Use `' + SEARCH + '` to find a page by its words before anything else.\\n' +\n  'When the workspace is empty, call `' +\n  LOAD +\n  '` with a folder, then wait.\\n' +\n  'Never call `' + DROP + '` without asking the person first; it removes everything.\\n';\n", "",
		map[string]string{"search_docs": "' + SEARCH + '", "import_pages": "  LOAD +", "drop_pages": "' + DROP + '"}},
	{"prefix interpolated", "a.mjs", "const p = 'search';\nconst INSTRUCTIONS = `Use \\`${p}_docs\\` to find a page by its words before anything else,\nand never without asking.`;\n", "", map[string]string{"search_docs": "${p}_docs"}},
	{"function of a name", "a.mjs", "const code = (name) => '`' + name + '`';\nconst INSTRUCTIONS = [\n  `Use ${code('search_docs')} to find a page by its words before anything else.`,\n  `When the workspace is empty, call ${code('import_pages')} with a folder, then wait.`,\n].join('\\n');\n", "",
		map[string]string{"search_docs": "search_docs", "import_pages": "import_pages"}},
	{"condition between", "a.mjs", "const readonly = false;\nconst INSTRUCTIONS = `Use \\`search_docs\\` to find a page by its words before anything else. ${readonly ? 'Nothing can be changed here.' : 'Pages may be changed.'} Call \\`import_pages\\` with a folder, then wait.`;\n", "",
		map[string]string{"search_docs": "search_docs", "import_pages": "import_pages"}},
	{"placeholder replaced", "a.mjs", "const T = `Use \\`{{tool}}\\` to find a page by its words before anything else.`;\nconst INSTRUCTIONS = T.replace('{{tool}}', 'search_docs');\n", "", map[string]string{"search_docs": "`{{tool}}"}},
	{"lines pushed", "a.mjs", "const lines = [];\nlines.push('Use `search_docs` to find a page by its words before anything else.');\nif (lines) {\n  lines.push('When the workspace is empty, call `import_pages` with a folder,' + ' then wait.');\n}\nlines.push('Never call `' + 'drop_' + 'pages` without asking the person first;' + ' it removes everything.');\nconst INSTRUCTIONS = lines.join('\\n');\n", "",
		map[string]string{"search_docs": "search_docs", "import_pages": "import_pages", "drop_pages": "drop_"}},
	{"implicit concatenation", "a.py", "INSTRUCTIONS = (\n    \"Use `search_docs` to find a page \"\n    \"by its words before anything else.\\n\"\n    'When the workspace is empty, '\n    'call `import_pages` with a folder, '\n    r'then wait.' '\\n'\n    \"Never call \"\n    \"`drop_pages`\"\n    \" without asking the person first; it removes everything.\\n\"\n)\n", "", usual},
	{"triple quotes, dedented", "a.py", "import textwrap\nINSTRUCTIONS = textwrap.dedent(\"\"\"\\\n    Use `search_docs` to find a page by its words before anything else.\n    When the workspace is empty, call `import_pages` \\\n    with a folder, then wait.\n    Never call `drop_pages` without asking the person first; it removes everything.\n\"\"\").strip()\n", "", usual},
	{"triple quotes, blanks made one", "a.py", "INSTRUCTIONS = ' '.join('''\n    Use `search_docs` to find a page\n    by its words before anything else. When the workspace is empty, call\n    `import_pages` with a folder, then wait.\n    Never call `drop_pages` without asking the person first; it removes everything.'''.split())\n", "", usual},
	{"f-strings", "a.py", "SEARCH, LOAD = 'search_docs', 'import_pages'\nn = 7\nINSTRUCTIONS = (\n    f\"Use `{SEARCH}` to find a page by its words \"\n    f\"before anything else, {n} at a time.\\n\"\n    f\"When the workspace is empty, call `{LOAD}` with a folder, then wait.\"\n)\n", "",
		map[string]string{"search_docs": "{SEARCH}", "import_pages": "{LOAD}"}},
	{"per cent", "a.py", "INSTRUCTIONS = (\"Use `%s` to find a page by its words before anything else. \"\n    \"When the workspace is empty, call `%(load)s` with a folder, then wait.\").replace('%s', 'search_docs') % {'load': 'import_pages'}\n", "",
		map[string]string{"search_docs": "`%s`", "import_pages": "%(load)s"}},
	{"format", "a.py", "INSTRUCTIONS = (\"Use `{}` to find a page by its words before anything else.\\n\"\n    \"When the workspace is empty, call `{}` with a folder, then wait.\").format('search_docs', 'import_pages')\n", "",
		map[string]string{"search_docs": "Use `{}`", "import_pages": "call `{}`"}},
	{"not ASCII", "a.py", "INSTRUCTIONS = \"Benutze `search_docs`, um die g\\u00fcnstigste \\xc4nderung der Stra\\u00dfe zu finden, \"\\\n  \"bevor du \\N{LATIN SMALL LETTER U WITH DIAERESIS}berhaupt anf\\xe4ngst.\"\n", "", map[string]string{"search_docs": "search_docs"}},
	{"a backslash meant", "a.py", "INSTRUCTIONS = r'''Lines end in \\n and never in \\r\\n. Use `search_docs` with \\t between the words of a page, before anything else.'''\n", "", map[string]string{"search_docs": "search_docs"}},
	{"raw literal glued", "a.go", "package main\n\nconst Instructions = `Use ` + \"`search_docs`\" + ` to find a page by its words before anything else.\nWhen the workspace is empty, call ` + \"`\" + `import_pages` + \"`\" + ` with a folder, then wait.\nNever call ` + \"`\" + drop + \"`\" + ` without asking the person first; it removes everything.\n`\n\nconst drop = \"drop\" + \"_pages\"\n", "",
		map[string]string{"search_docs": "search_docs", "import_pages": "import_pages", "drop_pages": "+ drop +"}},
	{"format verbs", "a.go", "package main\n\nimport \"fmt\"\n\nvar Instructions = fmt.Sprintf(\"Use `%s` to find a page by its words before anything else.\\n\"+\n\t\"When the workspace is empty, call `%[2]s` with a folder, then wait.\\n\",\n\t\"search_docs\", \"import_pages\")\n", "",
		map[string]string{"search_docs": "Use `%s`", "import_pages": "%[2]s"}},
	{"builder", "a.go", "package main\n\nimport \"strings\"\n\nvar Instructions = func() string {\n\tvar b strings.Builder\n\tb.WriteString(\"Use `search_docs` to find a page by its words \")\n\tb.WriteString(\"before anything else.\\n\")\n\tb.WriteString(\"When the workspace is empty, call `import_pages` \")\n\tb.WriteString(\"with a folder, then wait.\\n\")\n\treturn b.String()\n}()\n", "",
		map[string]string{"search_docs": "search_docs", "import_pages": "import_pages"}},
	{"JSON", "server.json", "{\n  \"name\": \"x\",\n  \"instructions\": \"Use `search_docs` to find a page by its words before anything else.\\nWhen the workspace is empty, call `import_pages` with a folder, then wait.\\n\"\n}\n", served, map[string]string{"search_docs": "search_docs", "import_pages": "import_pages"}},
	{"YAML folded", "prompt.yaml", "instructions: >-\n  Use `search_docs` to find a page\n  by its words before anything else.\n\n  When the workspace is empty,\n  call `import_pages` with a folder, then wait.\n", strings.ReplaceAll(served, "anything else.\n", "anything else.\n\n"), map[string]string{"search_docs": "search_docs", "import_pages": "import_pages"}},
	{"YAML quoted", "prompt.yml", "instructions: \"Use `search_docs` to find a page\n  by its words before anything else.\\n\\\n  When the workspace is empty,\n  call `import_pages` with a folder, then wait.\"\n", served, map[string]string{"search_docs": "search_docs", "import_pages": "import_pages"}},
	{"TOML", "prompt.toml", "instructions = \"\"\"\nUse `search_docs` to find a page \\\n    by its words before anything else.\nWhen the workspace is empty, \\\n    call `import_pages` with a folder, then wait.\n\"\"\"\n", served, map[string]string{"search_docs": "search_docs", "import_pages": "import_pages"}},
	{"Rust concat!", "src/lib.rs", "const I: &str = concat!(\n    \"Use `search_docs` to find a page \",\n    \"by its words before anything else.\\n\",\n    r#\"When the workspace is empty, call `import_pages`\"#,\n    \" with a folder, then wait.\\n\",\n    \"Never call `\", drop!(), \"` without asking the person first; it removes everything.\",\n);\n", served,
		map[string]string{"search_docs": "search_docs", "import_pages": "import_pages", "drop_pages": "drop!()"}},
	{"Rust line ends", "src/lib.rs", "    writeln!(\n        out,\n        \"Use `search_docs` to find a page \\\n         by its words before anything else.\"\n    )?;\n    writeln!(out, \"When the workspace is empty, call `{LOAD}` \\\n         with a folder, then wait.\")?;\n", served, map[string]string{"search_docs": "search_docs", "import_pages": "{LOAD}"}},
	{"Swift", "Server.swift", "let text = \"\"\"\n  Use `search_docs` to find a page \\\n  by its words before anything else.\n  When the workspace is empty, call `\\(Tool.load.rawValue)` \\\n  with a folder, then wait.\n  \"\"\"\n", served, map[string]string{"search_docs": "search_docs", "import_pages": "\\(Tool"}},
	{"Java text block", "Server.java", "  String text = \"\"\"\n      Use `search_docs` to find a page \\\n      by its words before anything else.\n      When the workspace is empty, call `import_pages`\\s\\\n      with a folder, then wait.\n      \"\"\" + \"Never call `\" + DROP + \"` without asking \"\n      + \"the person first; it removes everything.\";\n", served, map[string]string{"search_docs": "search_docs", "import_pages": "import_pages", "drop_pages": "DROP"}},
	{"Java builder", "Server.java", "    sb.append(\"Use `search_docs` to find a page \")\n      .append(\"by its words before anything else.\").append(System.lineSeparator());\n    sb.append(\"When the workspace is empty, call `\").append(LOAD).append(\"` with a folder, then wait.\");\n", served, map[string]string{"search_docs": "search_docs", "import_pages": "LOAD"}},
	{"Kotlin margin", "Server.kt", "val text = \"\"\"\n    |Use `search_docs` to find a page by its words before anything else.\n    |When the workspace is empty, call `$LOAD` with a folder, then wait.\n    |Never call `${Tools.DROP}` without asking the person first; it removes everything.\n\"\"\".trimMargin()\n", served, map[string]string{"search_docs": "search_docs", "import_pages": "$LOAD", "drop_pages": "Tools.DROP"}},
	{"C# verbatim", "Server.cs", "  const string Text = @\"Say \"\"please\"\". Use `search_docs` to find a page by its words\n    before anything else.\n\" + $\"When the workspace is empty, call `{Load}` with a folder, \" +\n    \"then wait.\";\n", "Say \"please\". " + served, map[string]string{"search_docs": "search_docs", "import_pages": "{Load}"}},
	{"C# raw", "Server.cs", "  [Description($$\"\"\"\n    Use `search_docs` to find a page by its words before anything else.\n    When the workspace is empty, call `{{Load}}` with a folder, then wait.\n    \"\"\")]\n", served, map[string]string{"search_docs": "search_docs", "import_pages": "{{Load}}"}},
	{"Ruby heredoc", "server.rb", "TEXT = <<~TEXT.freeze\n  Use `search_docs` to find a page by its words before anything else.\n  When the workspace is empty, call `#{LOAD}` with a folder, then wait.\nTEXT\n", served, map[string]string{"search_docs": "search_docs", "import_pages": "#{LOAD}"}},
	{"PHP", "Server.php", "$text = 'Use `search_docs` to find a page '\n  . 'by its words before anything else. '\n  . 'When the workspace is empty, call `' . self::LOAD . '` with a folder, then wait. '\n  . \"Never call `$drop` without asking the person first; it removes everything.\";\n", served, map[string]string{"search_docs": "search_docs", "import_pages": "self::LOAD", "drop_pages": "$drop`"}},
	{"PHP nowdoc", "Server.php", "$text = <<<'TEXT'\n  Use `search_docs` to find a page by its words before anything else.\n  When the workspace is empty, call `import_pages` with a folder, then wait.\n  TEXT;\n", served, map[string]string{"search_docs": "search_docs", "import_pages": "import_pages"}},
	{"Elixir", "server.ex", "  @text \"\"\"\n  Use `search_docs` to find a page \\\n  by its words before anything else.\n  \"\"\" <> \"When the workspace is empty, call `\" <> @load <> \"` with a folder, then wait.\"\n", served, map[string]string{"search_docs": "search_docs", "import_pages": "@load"}},
	{"Lua", "server.lua", "local text = 'Use `search_docs` to find a page by its words ' ..\n  'before anything else.\\n' .. 'When the workspace is empty, call `' .. LOAD .. '` with a folder, then wait.'\n", served, map[string]string{"search_docs": "search_docs", "import_pages": "LOAD"}},
	{"C", "server.c", "static const char text[] =\n    \"Use `search_docs` to find a page \"\n    \"by its words before anything else.\\n\"\n    \"When the workspace is empty, call `\" LOAD_TOOL \"` with a folder, then wait.\\n\";\n", served, map[string]string{"search_docs": "search_docs", "import_pages": "LOAD_TOOL"}},
	{"documentation comment", "server.ts", "/**\n * Use `search_docs` to find a page\n * by its words before anything else.\n * When the workspace is empty, call\n * `import_pages` with a folder, then wait.\n */\n", served, map[string]string{"search_docs": "search_docs", "import_pages": "import_pages"}},
	{"short, glued", "a.go", "package main\n\nconst Instructions = \"First use `\" + \"alpha\" + \"`, then go on.\"\n", "", map[string]string{"alpha": "alpha"}},
	{"too short, glued", "a.go", "package main\n\nconst Instructions = \"Use `\" + \"alpha\" + \"` now.\"\n", "", map[string]string{"alpha": ""}},
	{"the same interpolated twice", "a.mjs", "const T = { find: 'find_page', list: 'list_page' };\nconst INSTRUCTIONS = `\n\\`${T.find}\\` works on the pages of the workspace that are open and not locked by another person.\n\\`${T.list}\\` works on the pages of the workspace that are open and not locked by another person.\n\\`${T.find}\\` works on the pages of the workspace that are open and not locked by another person.\n`;\n", "", map[string]string{"list_page": "${T.list}"}},
}

// contexts are those of a name in a text.
func contexts(text, name string) (list []Context) {
	for at := 0; len(list) < 8; {
		next := strings.Index(text[at:], name)
		if next < 0 {
			break
		}
		start, end := at+next, at+next+len(name)
		at = end
		before, after := bareLetters(text[:start]), bareLetters(text[end:])
		line := text[strings.LastIndexByte(text[:start], '\n')+1:]
		line, _, _ = strings.Cut(line, "\n")
		list = append(list, Context{line, string(before[max(0, len(before)-96):]), string(after[:min(96, len(after))])})
	}
	return list
}

func bareLetters(text string) []rune {
	var letters []rune
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			letters = append(letters, r)
		}
	}
	return letters
}

// evaluate returns what the file's own language makes of it.
func evaluate(t *testing.T, s shape) string {
	dir := t.TempDir()
	path := filepath.Join(dir, s.file)
	var words []string
	text := s.text
	switch filepath.Ext(s.file) {
	case ".mjs":
		words, text = []string{"node", path}, text+"\nprocess.stdout.write(INSTRUCTIONS)\n"
	case ".py":
		words, text = []string{"python3", "-X", "utf8", path}, text+"\nimport sys\nsys.stdout.write(INSTRUCTIONS)\n"
	case ".go":
		put(t, dir, "main.go", "package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(Instructions) }\n")
		words = []string{"go", "run", path, filepath.Join(dir, "main.go")}
	}
	put(t, dir, s.file, text)
	if _, err := exec.LookPath(words[0]); err != nil && os.Getenv("CI") != "true" {
		t.Skipf("%s is not installed", words[0])
	}
	command := exec.Command(words[0], words[1:]...)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v", words[0], err)
	}
	return string(out)
}

// TestShapes: every form in which a source writes a text leads to the line of
// the name, with a README, a test and a change log beside that say nearly
// the same.
func TestShapes(t *testing.T) {
	t.Parallel()
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			says := s.says
			if says == "" {
				says = evaluate(t, s)
			}
			dir := repository(t, map[string]string{
				s.file:         s.text,
				"README.md":    "| `search_docs` | find a page by its words |\n| `import_pages` | import the pages of a folder |\n| `drop_pages` | removes everything |\n",
				"CHANGELOG.md": "- Instructions say to use `search_docs` to find a page first, and never to call `drop_pages` without asking.\n",
				"tools.ts":     "tool('search_docs', 'Find a page by its words.');\ntool('import_pages', 'Call with a folder, then wait.');\ntool('drop_pages', 'Never call without asking the person first.');\n",
			})
			for tool, at := range s.at {
				want := ""
				if at != "" {
					if strings.Count(s.text, at) == 0 {
						t.Fatalf("%q is not in the file", at)
					}
					before, _, _ := strings.Cut(s.text, at)
					want = fmt.Sprintf("%s:%d", s.file, strings.Count(before, "\n")+1)
				}
				got := find(t, dir, []Mention{{Key{Tool: tool}, contexts(says, tool)}})[tool]
				if shown := shown(got); shown != want {
					t.Errorf("%s: %q, want %q\n%s", tool, shown, want, says)
				}
			}
		})
	}
}

func shown(p Position) string {
	if p.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

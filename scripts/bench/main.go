// Command bench measures the binary as a user meets it and prints a small
// table. Machines are noisy: compare the ratios of one run, not times of two.
//
//	go run ./scripts/bench [COMMAND [ARG...]]
//
// The wall times are those of a server that takes 400 ms to start, or of the
// given stdio server.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	window     = 1500 * time.Millisecond // the default settle window
	slowStart  = 400 * time.Millisecond  // of a server with its imports, such as one in Node
	bigPages   = 20
	bigPerPage = 500
	profiles   = 5
)

func main() {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "serve-slow":
			time.Sleep(slowStart)
			serve([]string{`{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}`})
			return
		case "serve-big":
			serve(bigCatalog())
			return
		case "read-big":
			readBig()
			return
		}
	}
	if err := bench(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(server []string) error {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "mcpeval")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, ".")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("run it at the top of the repository: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if len(server) == 0 {
		server = []string{self, "serve-slow"}
	}

	guidance := func(server []string, flags ...string) (usage, error) {
		args := append([]string{"guidance", "--server", "bench"}, flags...)
		return run(binary, append(append(args, "--"), server...)...)
	}
	if _, err := guidance(server, "--profile", "none"); err != nil { // warms the server's cache
		return err
	}
	// A start is what one profile without a window takes: from the spawn to
	// the catalog and the server's end.
	start, err := guidance(server, "--profile", "none", "--settle-ms", "0")
	if err != nil {
		return err
	}
	together, err := guidance(server)
	if err != nil {
		return err
	}
	apart, err := guidance(server, "--jobs", "1")
	if err != nil {
		return err
	}
	limit := 2*start.wall + window
	fmt.Printf("five profiles, default window\n")
	row("side by side", "%.2f s", together.wall.Seconds())
	row("--jobs 1", "%.2f s", apart.wall.Seconds())
	row("ratio", "%.2f", together.wall.Seconds()/apart.wall.Seconds())
	row("limit: two starts, one window", "%.2f s", limit.Seconds())
	row("over the limit", "%+.2f s", (together.wall - limit).Seconds())

	big := []string{self, "serve-big"}
	observed, err := guidance(big, "--settle-ms", "0", "--format", "json")
	if err != nil {
		return err
	}
	read, err := run(self, "read-big")
	if err != nil {
		return err
	}
	fmt.Printf("five profiles of %d tools on %d pages, 1 KiB descriptions\n", bigPages*bigPerPage, bigPages)
	row("wall", "%.2f s", observed.wall.Seconds())
	row("CPU, servers included", "%.2f s", observed.cpu.Seconds())
	row("the same bytes only read and scanned", "%.2f s", read.cpu.Seconds())
	row("ratio", "%.2f", observed.cpu.Seconds()/read.cpu.Seconds())
	row("peak memory", "%.0f MiB", observed.peakMiB)

	var versions []time.Duration
	for range 21 {
		v, err := run(binary, "--version")
		if err != nil {
			return err
		}
		versions = append(versions, v.wall)
	}
	slices.Sort(versions)
	info, err := os.Stat(binary)
	if err != nil {
		return err
	}
	fmt.Printf("the binary\n")
	row("--version, median of 21", "%.1f ms", float64(versions[10].Microseconds())/1000)
	row("size", "%.1f MiB", float64(info.Size())/(1<<20))
	return nil
}

func row(what, format string, value float64) { fmt.Printf("  %-40s "+format+"\n", what, value) }

type usage struct {
	wall, cpu time.Duration
	peakMiB   float64
}

func run(name string, args ...string) (usage, error) {
	command := exec.Command(name, args...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	begin := time.Now()
	if err := command.Run(); err != nil {
		return usage{}, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	state := command.ProcessState
	return usage{time.Since(begin), state.UserTime() + state.SystemTime(), peak(state)}, nil
}

// serve answers initialize and pages of tools/list, ready-made.
func serve(pages []string) {
	out := bufio.NewWriter(os.Stdout)
	lines := bufio.NewScanner(os.Stdin)
	page := 0
	for lines.Scan() {
		var request struct {
			ID     json.RawMessage
			Method string
		}
		json.Unmarshal(lines.Bytes(), &request)
		switch request.Method {
		case "initialize":
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"},"instructions":"Use `+"`tool-0-0`"+`."}}`+"\n", request.ID)
		case "tools/list":
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", request.ID, pages[page])
			page++
		}
		out.Flush()
	}
}

func bigCatalog() []string {
	description, _ := json.Marshal(strings.Repeat("Reads the note’s text, with \"quotes\" and a line end.\n", 20)[:1024])
	pages := make([]string, bigPages)
	for p := range pages {
		var tools []string
		for i := range bigPerPage {
			tools = append(tools, fmt.Sprintf(`{"name":"tool-%d-%d","description":%s,"inputSchema":{"type":"object","properties":{"id":{"type":"string"},"limit":{"type":"number"}}}}`, p, i, description))
		}
		pages[p] = `{"tools":[` + strings.Join(tools, ",") + `]`
		if p < bigPages-1 {
			pages[p] += fmt.Sprintf(`,"nextCursor":"page-%d"`, p+1)
		}
		pages[p] += `}`
	}
	return pages
}

// readBig is the floor: it asks the same servers for the same pages, and only
// reads them and looks for the ends of the lines.
func readBig() {
	self, _ := os.Executable()
	var all sync.WaitGroup
	for range profiles {
		all.Go(func() {
			server := exec.Command(self, "serve-big")
			in, _ := server.StdinPipe()
			out, _ := server.StdoutPipe()
			server.Start()
			reader := bufio.NewReaderSize(out, 64<<10)
			for i := range bigPages + 1 {
				method := "tools/list"
				if i == 0 {
					method = "initialize"
				}
				fmt.Fprintf(in, `{"id":%d,"method":"%s"}`+"\n", i, method)
				for {
					if _, err := reader.ReadSlice('\n'); err != bufio.ErrBufferFull {
						break
					}
				}
			}
			in.Close()
			io.Copy(io.Discard, out)
			server.Wait()
		})
	}
	all.Wait()
}

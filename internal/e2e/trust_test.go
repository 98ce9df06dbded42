//go:build linux

package e2e

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// place is where the Action runs; the server is another kind of stranger in
// each (CONTRACT.md section 8).
type place string

const (
	image     place = "image"      // the container, in a workspace of an ordinary owner
	rootImage place = "root-image" // the container, in a workspace of root
	host      place = "host"       // the host action
)

// ownerID is the user and the group whose the workspace is, as on GitHub's
// runners.
const ownerID = 1001

// unseen is the column of a place where an attack is not tried.
const unseen = -1

// attacks are what a server does beside serving. An error means that it could
// not do it. The words after its name are a command file, the folder of
// command files, and the folder of the whole run.
var attacks = map[string]func(file, folder, run string) error{
	"append": func(file, _, _ string) error {
		f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.WriteString(f, "evil=c4n4ry\n")
		return err
	},
	"link": func(file, _, run string) error {
		return errors.Join(os.Remove(file), os.Symlink(filepath.Join(run, "scratch/mine"), file))
	},
	"rename": func(file, _, run string) error {
		mine := filepath.Join(run, "scratch/mine")
		os.WriteFile(mine, []byte("evil=c4n4ry\n"), 0o666)
		return os.Rename(mine, file)
	},
	"pipe":   func(file, _, _ string) error { return errors.Join(os.Remove(file), syscall.Mkfifo(file, 0o666)) },
	"folder": func(file, _, _ string) error { return errors.Join(os.Remove(file), os.MkdirAll(file+"/x", 0o777)) },
	"another folder": func(_, folder, _ string) error {
		return errors.Join(os.Rename(folder, folder+"-moved"), os.Mkdir(folder, 0o777))
	},
	"former home": func(_, _, run string) error {
		return os.WriteFile(filepath.Join(run, "temp/home/.gitconfig"), []byte("[core]\n"), 0o666)
	},
	"event": func(_, _, run string) error {
		event := filepath.Join(run, "temp/workflow/event.json")
		if _, err := os.ReadFile(event); err != nil {
			return nil // it may be read
		}
		if err := os.Rename(event, event+"-moved"); err == nil {
			return nil
		}
		return os.WriteFile(event, []byte("{}"), 0o666)
	},
	"limit": func(_, _, _ string) error {
		return unix.Prlimit(os.Getppid(), unix.RLIMIT_FSIZE, &unix.Rlimit{Max: unix.RLIM_INFINITY}, nil)
	},
	"limit for good": func(_, _, _ string) error {
		return unix.Prlimit(os.Getppid(), unix.RLIMIT_FSIZE, &unix.Rlimit{}, nil)
	},
	"program": func(_, _, run string) error {
		return os.WriteFile(filepath.Join(run, "bin/git"), []byte("#!/bin/sh\n"), 0o777)
	},
	"docker": func(_, _, _ string) error {
		_, err := net.Dial("unix", "/var/run/docker.sock")
		if errors.Is(err, syscall.ECONNREFUSED) { // nobody listens, but it could be asked
			return nil
		}
		return err
	},
	"environment": func(_, _, _ string) error {
		_, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", os.Getppid()))
		return err
	},
	"setuid": func(_, _, run string) error {
		out, err := exec.Command(filepath.Join(run, "bin/setuid-id"), "-u").Output()
		if err == nil && string(out) != "0\n" {
			err = errors.New("still not root")
		}
		return err
	},
	"descriptor": func(_, _, run string) error {
		links, _ := filepath.Glob("/proc/self/fd/*")
		for _, link := range links {
			if target, _ := os.Readlink(link); target == filepath.Join(run, "secret") {
				return nil
			}
		}
		return errors.New("not there")
	},
	// Below: what a server needs to be able to do.
	"lives": func(_, _, _ string) error {
		if os.Getuid() == 0 {
			return nil
		}
		me, err := user.LookupId(strconv.Itoa(os.Getuid()))
		if err != nil || me.HomeDir != os.Getenv("HOME") {
			return fmt.Errorf("the user list has %v, %v", me, err)
		}
		if groups, _ := os.Getgroups(); len(groups) > 1 {
			return fmt.Errorf("groups %v", groups)
		}
		return errors.Join(os.MkdirAll(filepath.Join(me.HomeDir, ".npm"), 0o777), os.MkdirAll(".cache", 0o777), os.WriteFile(".cache/db", nil, 0o666),
			exec.Command("git", "status").Run())
	},
	"chain":         func(_, _, run string) error { return leave(run, "c() { echo >>beat; (c) & exit; }; c") },
	"chains":        func(_, _, run string) error { return leave(run, chains(`{}`)) },
	"chains, apart": func(_, _, run string) error { return leave(run, chains(`setsid`)) },
	"writes on": func(_, _, run string) error {
		return leave(run, `while :; do echo c4n4ry >`+run+`/workspace/mcpeval-guidance.json; done`)
	},
	"report is folder": func(_, _, _ string) error { return os.MkdirAll("mcpeval-guidance.json/x", 0o777) },
	"report is a pipe": func(_, _, _ string) error { return syscall.Mkfifo("mcpeval-guidance.json", 0o666) },
	"report is a link": func(_, _, run string) error {
		return os.Symlink(filepath.Join(run, "scratch/mine"), "mcpeval-guidance.json")
	},
}

// chains are four chains of processes that fork and end; each process takes a
// step before.
func chains(step string) string {
	return `exec perl -MPOSIX -e '$SIG{HUP}="IGNORE"; for (1..3) { fork or last } for (my $n = 0;; $n++) { fork and exit; ` + step + `; if ($n % 10 == 0) { open F, ">>", "beat"; print F "x"; close F } }'`
}

// leave starts a script that leaves the server's process group.
func leave(run, script string) error {
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = filepath.Join(run, "scratch")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Start()
}

func init() { maps.Copy(scriptBehaviours, trustBehaviours) }

var trustBehaviours = map[string]behaviour{
	// mcp-server attacks NAME FILE FOLDER RUN
	"attacks": func(p *peer) {
		err := attacks[os.Args[2]](os.Args[3], os.Args[4], os.Args[5])
		p.note("attack", fmt.Sprintf("%d:%d %v\n", os.Getuid(), os.Getgid(), err))
		gated(p)
	},
	// mcp-server signals NUMBER: sends it to its parent
	"signals": func(p *peer) {
		number, _ := strconv.Atoi(os.Args[2])
		p.note("attack", fmt.Sprintf("%d:%d %v\n", os.Getuid(), os.Getgid(), syscall.Kill(os.Getppid(), syscall.Signal(number))))
		gated(p)
	},
}

// inAContainer is the command in-a-container COMMAND...: process 1, with a user
// list and a docker socket of its own, and root's rights in a container.
func inAContainer() {
	run := os.Getenv("STRANGER_RUN")
	err := errors.Join(
		unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
		unix.Mount("proc", "/proc", "proc", 0, ""),
		unix.Mount(run+"/passwd", "/etc/passwd", "", unix.MS_BIND, ""),
		unix.Mount(run+"/group", "/etc/group", "", unix.MS_BIND, ""),
		unix.Mount("tmpfs", "/run", "tmpfs", 0, ""),
	)
	if err == nil {
		var socket net.Listener
		if socket, err = net.Listen("unix", "/run/docker.sock"); err == nil {
			err = os.Chown("/run/docker.sock", 0, ownerID)
			if errors.Is(err, syscall.EINVAL) { // a user namespace without that group
				err = nil
			}
			err = errors.Join(err, os.Chmod("/run/docker.sock", 0o660))
			file, _ := socket.(*net.UnixListener).File()
			file.Close()
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(64)
	}
	unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_SYS_RESOURCE, 0, 0, 0)
	asInAContainer()
}

// newStranger is a step in a place. The folder of the run can be reached by
// every user; programs are root's, what the runner made is the owner's.
func newStranger(t *testing.T, where place, words ...string) (s *step, run string) {
	t.Helper()
	s = newStep(t)
	run, err := os.MkdirTemp("", "mcpeval-stranger-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(run) })
	run = mustEval(t, run)
	s.workspace, s.files, s.scratch = filepath.Join(run, "workspace"), filepath.Join(run, "temp/files"), filepath.Join(run, "scratch")
	for _, name := range []string{"output", "summary", "env", "path", "state"} {
		s.put(s.file(name), "")
	}
	s.put(filepath.Join(s.workspace, "README.md"), "# Server\n")
	s.put(filepath.Join(run, "temp/home/.gitconfig"), "")
	s.put(filepath.Join(run, "temp/workflow/event.json"), "{}")
	s.put(filepath.Join(run, "secret"), "")
	s.put(filepath.Join(run, "passwd"), "root:x:0:0:root:/root:/bin/sh\n")
	s.put(filepath.Join(run, "group"), "root:x:0:\n")
	s.put(filepath.Join(run, "bin/git"), "#!/bin/sh\nexec /usr/bin/git \"$@\"\n")
	s.put(filepath.Join(run, "tmp/x"), "")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf(`set -e; cd %[1]q
		git init -q workspace
		ln %[2]q bin/mcp-server 2>/dev/null || cp %[2]q bin/mcp-server
		cp "$(command -v id)" bin/setuid-id
		mkdir -p scratch; chmod 0777 scratch tmp; chmod 0755 . bin bin/git; chmod 4755 bin/setuid-id`, run, self)
	if where == image {
		script += fmt.Sprintf("; chown -R %[1]d:%[1]d workspace temp", ownerID)
	}
	if out, err := exec.Command("sh", "-c", script).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.set("server-command", strings.Join(append([]string{"mcp-server"}, words...), " "), "profiles", "none")
	s.env = []string{
		"STRANGER_RUN=" + run, "TMPDIR=" + filepath.Join(run, "tmp"), "RUNNER_TEMP=" + filepath.Join(run, "temp"), "GITHUB_EVENT_PATH=" + filepath.Join(run, "temp/workflow/event.json"), "HOME=" + filepath.Join(run, "temp/home"),
		"PATH=" + filepath.Join(run, "bin") + ":" + os.Getenv("PATH"),
	}
	if where == host {
		s.env = append(s.env, "MCPEVAL_ON_RUNNER=1")
	} else {
		s.env = append(s.env, "MCPEVAL_IMAGE=1")
		s.container = true
	}
	secret, err := os.Open(filepath.Join(run, "secret"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { secret.Close() })
	s.inherited = []*os.File{secret}
	return s, run
}

// needsRoot runs the whole test again as root where it is not, as on GitHub's
// runners, and reports whether that was done.
func needsRoot(t *testing.T) (done bool) {
	t.Helper()
	if os.Geteuid() == 0 {
		return false
	}
	if exec.Command("sudo", "-n", "true").Run() != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("root is needed, by sudo without a password, to be a container")
		}
		t.Skip("root is needed to be a container")
	}
	out, err := exec.Command("sudo", "-n", "env", "PATH="+os.Getenv("PATH"), "CI="+os.Getenv("CI"), os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v").CombinedOutput()
	if err != nil {
		t.Errorf("as root: %v\n%s", err, out)
	}
	return true
}

// TestAttacks: in the container the server can do nothing to the step and the
// runner; elsewhere what it did is put back, and the step says so (case 41).
func TestAttacks(t *testing.T) {
	t.Parallel()
	if needsRoot(t) {
		return
	}
	const tampered = 3
	for _, row := range []struct {
		attack                 string
		image, rootImage, host int // exit status
		harmless               bool
	}{
		{attack: "append", image: 0, rootImage: tampered, host: tampered},
		{attack: "link", image: 0, rootImage: tampered, host: tampered},
		{attack: "rename", image: 0, rootImage: tampered, host: tampered},
		{attack: "pipe", image: 0, rootImage: tampered, host: tampered},
		{attack: "folder", image: 0, rootImage: tampered, host: tampered},
		{attack: "another folder", image: 0, rootImage: tampered, host: tampered},
		{attack: "former home", image: 0, rootImage: unseen, host: unseen},
		{attack: "event", image: 0, rootImage: unseen, host: unseen},
		{attack: "limit", image: 0, rootImage: 0, host: 0},               // lifted
		{attack: "limit for good", image: 0, rootImage: 3, host: unseen}, // nothing can be written
		{attack: "program", image: 0, rootImage: 0, host: 0},
		{attack: "docker", image: 0, rootImage: unseen, host: unseen},
		{attack: "environment", image: 0, rootImage: 0, host: unseen},
		{attack: "setuid", image: 0, rootImage: unseen, host: unseen},
		{attack: "descriptor", image: 0, rootImage: 0, host: 0},
		{attack: "lives", image: 0, rootImage: 0, host: 0, harmless: true},
		{attack: "chain", image: 0, rootImage: 0, host: 0, harmless: true},
		{attack: "chains", image: 0, rootImage: 0, host: 0, harmless: true},
		{attack: "chains, apart", image: 0, rootImage: 0, host: 0, harmless: true},
		{attack: "writes on", image: 0, rootImage: 0, host: 0, harmless: true},
		{attack: "report is folder", image: 3, rootImage: 3, host: 3, harmless: true},
		{attack: "report is a pipe", image: 0, rootImage: 0, host: 0, harmless: true},
		{attack: "report is a link", image: 0, rootImage: 0, host: 0, harmless: true},
	} {
		for where, exit := range map[place]int{image: row.image, rootImage: row.rootImage, host: row.host} {
			if exit == unseen {
				continue
			}
			t.Run(string(where)+"/"+row.attack, func(t *testing.T) {
				t.Parallel()
				s, run := newStranger(t, where)
				s.set("server-command", fmt.Sprintf("mcp-server attacks %q %q %q %q", row.attack, s.file("env"), s.files, run))
				s.set("settle-ms", "200") // what is left behind takes its time to begin
				before := trees(run)
				r := s.run()
				r.ends(t, exit)
				endedSoon(t, r.elapsed)
				said := r.recorded("attack")
				who, what, _ := strings.Cut(strings.TrimSpace(said), " ")
				if where == image && !strings.HasPrefix(who, fmt.Sprintf("%d:", ownerID)) {
					t.Errorf("the server ran as %s", who)
				}
				if done := what == "<nil>"; done != row.harmless && (where == image || row.harmless || row.attack == "environment" || row.attack == "descriptor") {
					t.Errorf("the server says: %s", said)
				}
				after := trees(run)
				for path, was := range before {
					if !strings.HasSuffix(path, "bin/git") && after[path] != was {
						t.Errorf("%s was %s, is %s", path, was, after[path])
					}
				}
				if exit == 0 {
					if r.outputs["passed"] != "true" || r.outputs["report"] == "" || !strings.Contains(r.report, `"passed": true`) {
						t.Errorf("outputs %v, report %.80q", r.outputs, r.report)
					}
				} else if row.attack != "limit for good" && (r.outputs["exit-code"] != "3" || len(r.annotations("error")) != 1) {
					t.Errorf("outputs %v, annotations %v", r.outputs, r.annotations("error"))
				}
				if exit == tampered && row.image == 0 && row.attack != "limit for good" {
					if r.outputs["passed"] != "null" || r.outputs["complete"] != "false" || !strings.Contains(r.annotations("error")[0].message, "tampered") && !strings.Contains(r.annotations("error")[0].fields["title"], "tampered") {
						t.Errorf("outputs %v, annotations %v", r.outputs, r.annotations("error"))
					}
				}
				if where == image {
					belongsToOwner(t, s.workspace)
				}
				if where == host {
					isQuiet(t, run, strings.HasPrefix(row.attack, "chain"))
				}
			})
		}
	}
}

// trees describes what a server must not change: the runner's files and the
// programs.
func trees(run string) map[string]string {
	all := map[string]string{}
	for _, top := range []string{"temp", "bin"} {
		filepath.WalkDir(filepath.Join(run, top), func(path string, _ os.DirEntry, _ error) error {
			info, err := os.Lstat(path)
			if err != nil {
				return nil
			}
			owner := info.Sys().(*syscall.Stat_t)
			all[path] = fmt.Sprintf("%v %d:%d", info.Mode(), owner.Uid, owner.Gid)
			return nil
		})
	}
	return all
}

func belongsToOwner(t *testing.T, workspace string) {
	t.Helper()
	filepath.WalkDir(workspace, func(path string, _ os.DirEntry, _ error) error {
		info, err := os.Lstat(path)
		if err != nil {
			return nil
		}
		if owner := info.Sys().(*syscall.Stat_t); owner.Uid != ownerID {
			t.Errorf("%s belongs to %d", path, owner.Uid)
		}
		return nil
	})
}

// isQuiet: a chain of processes is rarely there when one looks, so the process
// table is looked at often.
func isQuiet(t *testing.T, run string, chained bool) {
	t.Helper()
	beat := func() int64 {
		info, err := os.Stat(filepath.Join(run, "scratch/beat"))
		if err != nil {
			return 0
		}
		return info.Size()
	}
	before := beat()
	if before == 0 && chained {
		t.Error("there was no chain")
	}
	for range 50 {
		for _, left := range survivors(filepath.Join(run, "scratch")) {
			t.Errorf("still running: %s", left)
			left.kill()
		}
		time.Sleep(2 * time.Millisecond)
	}
	if after := beat(); after != before {
		t.Errorf("something still writes: %d, then %d", before, after)
	}
}

// TestSignals: whatever a process can catch ends the run as an interrupt does,
// where the server can send it at all.
func TestSignals(t *testing.T) {
	t.Parallel()
	if needsRoot(t) {
		return
	}
	// These end nothing, caught or not; or nobody can catch them in Go, and
	// they are ignored.
	harmless := []syscall.Signal{syscall.SIGCONT, syscall.SIGCHLD, syscall.SIGURG, syscall.SIGWINCH, syscall.SIGPIPE, syscall.SIGPROF, 32, 33, 34}
	for number := syscall.Signal(1); number <= 64; number++ {
		for where, exit := range map[place]int{image: 0, host: 128 + int(number)} {
			switch {
			case where == image && !slices.Contains([]syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP, syscall.SIGQUIT, syscall.SIGTERM}, number):
				continue
			case where == host && (number == syscall.SIGKILL || number == syscall.SIGSTOP):
				continue // nobody can catch these
			case slices.Contains(harmless, number), signal.Ignored(number): // as under nohup
				exit = 0
			}
			t.Run(fmt.Sprintf("%s/%d", where, number), func(t *testing.T) {
				t.Parallel()
				s, _ := newStranger(t, where, "signals", strconv.Itoa(int(number)))
				s.set("settle-ms", "300")
				r := s.run()
				r.ends(t, exit)
				if want := map[bool]string{true: "true", false: "null"}[exit == 0]; r.outputs["passed"] != want || r.summary == "" {
					t.Errorf("outputs %v, summary %.80q", r.outputs, r.summary)
				}
				if where == image && !strings.HasSuffix(strings.TrimSpace(r.recorded("attack")), "operation not permitted") {
					t.Errorf("the server says %q", r.recorded("attack"))
				}
			})
		}
	}
}

// TestOwnerWithoutName: in a user namespace that does not have the workspace's
// owner, the server runs as root, which is said, and the report stays (case 29).
func TestOwnerWithoutName(t *testing.T) {
	t.Parallel()
	if needsRoot(t) {
		return
	}
	s, run := newStranger(t, image, "gated")
	for _, path := range []string{s.workspace, s.files} {
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	files, _ := filepath.Glob(s.files + "/*")
	for _, path := range append(files, filepath.Join(run, "temp")) {
		os.Chown(path, 0, 0)
	}
	s.namespace = true
	r := s.run()
	r.ends(t, 0)
	if !strings.Contains(r.stdout, "so the server runs as root") || len(r.annotations("notice")) != 1 || r.report == "" || r.outputs["report"] == "" {
		t.Errorf("log:\n%s\noutputs %v", r.stdout, r.outputs)
	}
}

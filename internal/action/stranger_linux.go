package action

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/org/mcpeval-guidance/internal/proc"
)

// dockerSockets are where the runner mounts its own docker socket into every
// container. Who may write there is root on the runner.
var dockerSockets = []string{"/var/run/docker.sock", "/run/docker.sock"}

// Stranger returns whom the server runs as in the container: the workspace's
// owner (CONTRACT.md section 8), with a home of its own in HOME from now on.
// It is nil where we are not root. Where the owner cannot be taken on, it is
// nil too, and a line of the log says what that means.
func (a *Action) Stranger() *proc.User {
	if os.Geteuid() != 0 || a.workspace == nil {
		return nil
	}
	user := &proc.User{}
	user.UID, user.GID = ownerOf(a.workspace.info)
	if user.UID == 0 {
		a.Logf("The workspace belongs to root, so the server runs as root: it can do in this container what the check can.")
		return nil
	}
	// Root's group, and one that is as good, stay away.
	for _, other := range []int{user.UID, noGroup} {
		if user.GID == 0 || opensDocker(user.GID) {
			user.GID = other
		}
	}
	err := user.Possible(a.workspace.Path)
	home := ""
	if err == nil {
		home, err = newHome(user)
	}
	if err != nil {
		a.Logf("The workspace's owner cannot be taken on here, so the server runs as root: it can do in this container what the check can.")
		return nil
	}
	a.home = home
	if os.Getenv("MCPEVAL_IMAGE") != "" {
		register(user, home)
	}
	for variable, value := range map[string]string{"USER": userName, "LOGNAME": userName} {
		if os.Getenv(variable) != "" {
			os.Setenv(variable, value)
		}
	}
	a.formerHome = os.Getenv("HOME")
	os.Setenv("HOME", home)
	return user
}

// opensDocker reports whether the group may write to the docker socket: on
// some runners it is the first group of the user whose the workspace is.
func opensDocker(gid int) bool {
	for _, socket := range dockerSockets {
		if info, err := os.Stat(socket); err == nil {
			if _, group := ownerOf(info); group == gid {
				return true
			}
		}
	}
	return false
}

// newHome makes a folder for the user. It stays: the container is thrown away,
// and what a server puts there may be more than can be removed in a bounded
// time.
func newHome(user *proc.User) (string, error) {
	home, err := os.MkdirTemp("", "mcpeval-home-")
	if err != nil {
		return "", err
	}
	return home, os.Chown(home, user.UID, user.GID)
}

// noGroup is the group that owns nothing (Debian's nogroup).
const noGroup = 65534

const userName = "mcp-server"

// register gives the user and its group a line in the image's lists, which
// many programs look themselves up in. Without one they do as well as they
// can.
func register(user *proc.User, home string) {
	addLine("/etc/passwd", user.UID, fmt.Sprintf("%s:x:%d:%d::%s:/bin/sh\n", userName, user.UID, user.GID, home))
	addLine("/etc/group", user.GID, fmt.Sprintf("%s:x:%d:\n", userName, user.GID))
}

// addLine appends a line to a list whose third column is the number, unless
// it has one.
func addLine(path string, number int, line string) {
	list, err := os.ReadFile(path)
	if err != nil {
		return
	}
	for entry := range strings.Lines(string(list)) {
		if columns := strings.Split(entry, ":"); len(columns) > 2 && columns[2] == fmt.Sprint(number) {
			return
		}
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return
	}
	defer file.Close()
	if len(list) > 0 && !bytes.HasSuffix(list, []byte("\n")) {
		line = "\n" + line
	}
	file.WriteString(line)
}

// Lock closes to everyone but root what is the runner's, while the server
// runs: the folders of the command files and our own home. What holds those
// folders, and the event's file, can be read but not changed. A folder that the
// workspace or the server's home lies in is left alone. unlock puts owner and
// mode back.
func (a *Action) Lock() (unlock func()) {
	var locked []func()
	seen := map[string]bool{}
	lock := func(path string, mask fs.FileMode) {
		path, err := filepath.EvalSymlinks(path)
		if err != nil || seen[path] || a.needs(path) {
			return
		}
		seen[path] = true
		file, err := os.OpenFile(path, os.O_RDONLY|openCarefully, 0)
		if err != nil {
			return
		}
		info, err := file.Stat()
		if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
			file.Close()
			return
		}
		uid, gid := ownerOf(info)
		if file.Chown(0, 0) == nil {
			file.Chmod(info.Mode().Perm() & mask)
		}
		locked = append(locked, func() {
			file.Chown(uid, gid)
			file.Chmod(info.Mode())
			file.Close()
		})
	}
	for _, path := range a.commandFiles() {
		lock(filepath.Dir(path), 0o700)
	}
	for _, path := range a.commandFiles() {
		lock(filepath.Dir(filepath.Dir(path)), 0o755)
	}
	if a.formerHome != "" {
		lock(a.formerHome, 0o700)
	}
	for _, variable := range []string{"RUNNER_TEMP", "GITHUB_EVENT_PATH"} {
		if path := a.gha.Getenv(variable); filepath.IsAbs(path) {
			lock(path, 0o755)
		}
	}
	if path := a.gha.Getenv("GITHUB_EVENT_PATH"); filepath.IsAbs(path) {
		lock(filepath.Dir(path), 0o755)
	}
	return func() {
		for _, undo := range locked {
			undo()
		}
	}
}

// needs reports whether the server's own places lie in the folder.
func (a *Action) needs(folder string) bool {
	for _, place := range []string{a.workspace.Path, a.home, os.TempDir()} {
		place, err := filepath.EvalSymlinks(place)
		if err != nil {
			return true
		}
		if inside, err := filepath.Rel(folder, place); err != nil || filepath.IsLocal(inside) {
			return true
		}
	}
	return false
}

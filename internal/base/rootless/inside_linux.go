package rootless

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
)

// marker is the variable by which a process in the namespace knows the ids of its user outside:
// UID:GID, and for a moment :FD:DIR, what Arrive needs.
const marker = "_DEPLOYSTER_ROOTLESS"

type ids struct{ uid, gid int }

// outside returns the ids that the user has outside of the namespace; nil = this process is not in one.
var outside = sync.OnceValue(func() *ids {
	var user ids
	if n, _ := fmt.Sscanf(os.Getenv(marker), "%d:%d", &user.uid, &user.gid); n != 2 || os.Geteuid() != 0 {
		return nil
	}
	content, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return nil
	}
	var inner, outer, count int
	if n, _ := fmt.Sscan(string(content), &inner, &outer, &count); n != 3 || inner != 0 || outer != user.uid || count != 1 {
		return nil // the variable is of another process
	}
	return &user
})

// Inside reports whether this process is in the namespace of a user who is not root.
func Inside() bool { return outside() != nil }

// UserID returns the id of the user of this process, outside of the namespace if it is in one.
func UserID() int {
	if user := outside(); user != nil {
		return user.uid
	}
	return os.Geteuid()
}

// Environ returns what the environment of a process must have to know that it is inside.
func Environ() []string {
	if user := outside(); user != nil {
		return []string{fmt.Sprintf("%s=%d:%d", marker, user.uid, user.gid)}
	}
	return nil
}

// Arrive completes Enter, in the program that it has started again: it restores the working directory,
// by the path that it has in the namespace.
func Arrive() error {
	fields := strings.SplitN(os.Getenv(marker), ":", 4)
	if !Inside() || len(fields) != 4 {
		return nil
	}
	if err := os.Setenv(marker, fields[0]+":"+fields[1]); err != nil {
		return err
	}
	var gate int
	if _, err := fmt.Sscan(fields[2], &gate); err == nil && gate > 2 {
		_ = syscall.Close(gate) // from now on the namespace has this process
	}
	return os.Chdir(fields[3])
}

// AsUser has a command run with the ids that its user has outside, for programs that read the home
// directory and the name of the user from the system's list. Outside it changes nothing.
func AsUser(attr *syscall.SysProcAttr) *syscall.SysProcAttr {
	user := outside()
	if user == nil {
		return attr
	}
	if attr == nil {
		attr = &syscall.SysProcAttr{}
	}
	attr.Cloneflags |= syscall.CLONE_NEWUSER
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: user.uid, HostID: 0, Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: user.gid, HostID: 0, Size: 1}}
	return attr
}

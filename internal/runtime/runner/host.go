package runner

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// DefaultHostDataDir is the default of Host.DataDir.
const DefaultHostDataDir = "/var/lib/deployster"

// Host is another machine that runs images, and how to reach it. ssh decides about
// fields that are empty.
type Host struct {
	Name         string   `json:"name"`    // as in plans: web, web["a"]
	Address      string   `json:"address"` // a name, an address, or an alias of ssh's config
	User         string   `json:"user,omitempty"`
	Port         int      `json:"port,omitempty"`
	IdentityFile string   `json:"identity_file,omitempty"`
	Jump         string   `json:"jump,omitempty"`     // as for ssh -J
	HostKey      string   `json:"host_key,omitempty"` // lines of public keys; "" = known_hosts must have it
	SSHOptions   []string `json:"ssh_options,omitempty"`
	Sudo         bool     `json:"sudo,omitempty"`
	DataDir      string   `json:"data_dir,omitempty"` // "" = DefaultHostDataDir
	// Machine is the random id of the data directory there. It identifies the machine,
	// whatever the host's name. "" = the host was not reached yet.
	Machine string `json:"machine,omitempty"`
	// UndoUnlessReached is how long after a guarded action the host must be reached again; else the action is
	// undone. 0 = actions are not guarded.
	UndoUnlessReached time.Duration `json:"undo_unless_reached_ns,omitempty"`
	// Kubernetes: the host is a namespace of a cluster, and Address is CONTEXT/NAMESPACE.
	// nil = a machine that ssh reaches.
	Kubernetes *Cluster `json:"kubernetes,omitempty"`
}

// Same reports whether two hosts are the same: by Machine if both are known, else by
// name.
func (h *Host) Same(other *Host) bool {
	switch {
	case h == nil || other == nil:
		return h == other
	case h.Machine != "" && other.Machine != "":
		return h.Machine == other.Machine
	}
	return h.Name == other.Name
}

// NameOf returns the name of a host; "" = this machine.
func NameOf(h *Host) string {
	if h == nil {
		return ""
	}
	return h.Name
}

// SameWay reports whether two hosts are reached in the same way, as they are written in a plan: they are equal in all
// but Machine and UndoUnlessReached.
func (h Host) SameWay(other Host) bool {
	h.Machine, other.Machine, h.UndoUnlessReached, other.UndoUnlessReached = "", "", 0, 0
	if h.Kubernetes == nil || other.Kubernetes == nil {
		return reflect.DeepEqual(h, other)
	}
	one, err := json.Marshal(h) // an absent map is an empty one
	two, failed := json.Marshal(other)
	return err == nil && failed == nil && bytes.Equal(one, two)
}

// InCluster reports whether containers run as Pods; nil is this machine.
func (h *Host) InCluster() bool { return h != nil && h.Kubernetes != nil }

// String returns how the host is reached, for people.
func (h Host) String() string {
	text := h.Address
	if text == "" {
		return "known after apply"
	}
	if h.User != "" {
		text = h.User + "@" + text
	}
	if h.Port != 0 {
		text += ":" + strconv.Itoa(h.Port)
	}
	return text
}

// Check returns an error if a field is not valid.
func (h Host) Check() error {
	for _, part := range []struct{ name, value string }{{"address", h.Address}, {"user", h.User}, {"jump", h.Jump}} {
		if strings.HasPrefix(part.value, "-") || strings.ContainsAny(part.value, " \t\r\n\x00'\"") {
			return fmt.Errorf("the %s %q is not valid for ssh", part.name, part.value)
		}
	}
	if h.Address == "" {
		return fmt.Errorf("the address is empty")
	}
	if h.Port < 0 || h.Port > 65535 {
		return fmt.Errorf("%d is not a port", h.Port)
	}
	switch undo := h.UndoUnlessReached; {
	case undo == 0:
	case h.Kubernetes != nil:
		return fmt.Errorf("undo_unless_reached is for machines that ssh reaches, and the host is a namespace of a cluster")
	case undo < MinUndo || undo > MaxUndo:
		return fmt.Errorf("undo_unless_reached is %s, and must be from %s to %s: a connection that is lost is noticed after up to "+
			"30s", undo, MinUndo, MaxUndo)
	}
	if dir := h.Data(); dir[0] != '/' || strings.Trim(dir, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-") != "" {
		return fmt.Errorf("the data_dir %q is not an absolute path of letters, digits and ._-/", dir)
	}
	return nil
}

// Data returns the data directory on the host.
func (h Host) Data() string {
	if h.DataDir == "" {
		return DefaultHostDataDir
	}
	return h.DataDir
}

// HostError reports that a host cannot be used, or that the connection to it was lost.
type HostError struct {
	Host Host
	Err  error
}

func (e *HostError) Error() string {
	return fmt.Sprintf("the host %s (%s) cannot be used: %s", e.Host.Name, e.Host, e.Err)
}

// Unwrap returns the cause.
func (e *HostError) Unwrap() error { return e.Err }

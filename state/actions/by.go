package actions

import (
	"fmt"
	"os"
	"strings"

	"deployster/internal/base/proc"
)

// WatchCommand is the command that repairs unattended.
const WatchCommand = "deployster watch"

// By identifies the process that did something. It is shown to people, and shows whether
// the machine was restarted since.
type By struct {
	Command string `json:"command,omitempty"`
	PID     int    `json:"pid,omitempty"`
	Host    string `json:"host,omitempty"`
	Boot    string `json:"boot,omitempty"` // changes whenever the machine starts
	// Machine is the id of the data directory, which knows how its actions ended; "" if
	// it could not be read.
	Machine string `json:"machine,omitempty"`
	Author
}

// Author is the person or the pipeline that a process acts for.
type Author struct {
	User     string   `json:"user,omitempty"`      // a name of the machine; "ann as root" = by sudo
	CI       string   `json:"ci,omitempty"`        // the URL of the run in a CI
	SignedBy []string `json:"signed_by,omitempty"` // the ids of the keys that signed the plan
	// Overrides are the policies that denied the plan and were overridden.
	Overrides []Override `json:"overrides,omitempty"`
}

// Override is the decision of a person to do what a policy denies.
type Override struct {
	Policy string `json:"policy"`
	Reason string `json:"reason"`
	User   string `json:"user,omitempty"` // as in Author: who has planned
	Host   string `json:"host,omitempty"` // the machine
	CI     string `json:"ci,omitempty"`   // the URL of the run in a CI
}

// Lasting returns what is worth keeping once the process has ended.
func (b By) Lasting() By {
	b.PID, b.Boot, b.Machine = 0, "", ""
	return b
}

// Myself returns the By of this process.
func Myself(command string) By {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // "" where there is none
	return By{Command: command, PID: os.Getpid(), Host: host, Boot: strings.TrimSpace(string(boot))}
}

// String describes a process for a message.
func (b By) String() string {
	if b.Command == "" {
		return "an earlier command"
	}
	user := ""
	if b.User != "" {
		user = ", user " + b.User
	}
	return fmt.Sprintf("%s (process %d on %s%s)", b.Command, b.PID, b.Host, user)
}

// Local reports whether the process ran on this machine, and whether since its last start.
func (b By) Local() (host, boot bool) {
	me := Myself("")
	return b.Host == me.Host, b.Host == me.Host && b.Boot == me.Boot
}

// Running reports whether the process is running on this machine.
func (b By) Running() bool {
	if host, boot := b.Local(); !host || !boot || b.PID <= 0 {
		return false
	}
	now := proc.Of(b.PID)
	return !now.Ended() && strings.HasPrefix(now.Name, "deployster") // otherwise another process has the number by now
}

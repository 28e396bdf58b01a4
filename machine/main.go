// Command machine is the image deployster/machine: the standard types, which configure a
// Linux machine. It needs whole_machine = true in the type block, and is one static program
// that serves all kinds.
package main

import (
	"fmt"
	"maps"
	"os"

	"deployster/machine/internal/access"
	"deployster/machine/internal/command"
	"deployster/machine/internal/content"
	"deployster/machine/internal/etc"
	"deployster/machine/internal/files"
	"deployster/machine/internal/git"
	"deployster/machine/internal/settings"
	"deployster/machine/internal/sysctl"
	"deployster/machine/internal/text"
	"deployster/protocol"
)

// kinds returns the types of this image, by the part of its name after #.
func kinds(m *access.Machine) map[string]protocol.Kind {
	all := system(m)
	maps.Copy(all, map[string]protocol.Kind{
		"archive":       content.NewArchive(m),
		"cron":          etc.NewCron(m),
		"directory":     files.NewDirectory(m),
		"download":      content.NewDownload(m),
		"exec":          command.New(m),
		"file":          files.NewFile(m),
		"hosts_entry":   text.NewHosts(m),
		"git":           git.New(m),
		"hostname":      settings.NewHostname(m),
		"ini":           text.NewINI(m),
		"json":          text.NewJSON(m),
		"kernel_module": etc.NewModule(m),
		"line":          text.NewLine(m),
		"link":          files.NewLink(m),
		"sudoers":       etc.NewSudoers(m),
		"sysctl":        sysctl.New(m),
		"text_block":    text.NewBlock(m),
		"tree":          content.NewTree(m),
		"timezone":      settings.NewTimezone(m),
	})
	return all
}

func main() {
	m := &access.Machine{}
	if len(os.Args) > 1 { // init is queried without the machine
		var err error
		if m, err = access.Enter(); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	protocol.ServeKinds(kinds(m), "whole-machine")
}

package rootless

import "strings"

// Loss is what containers do not have without root.
type Loss string

// The losses, by the names that programs read.
const (
	NoLimits       Loss = "limits"
	NoUserNS       Loss = "userns"
	NoWholeMachine Loss = "whole_machine"
	NoRootFiles    Loss = "files_of_root"
)

// Lost returns what containers of this process do not have; nil = it is not in the namespace of a user.
func Lost() []Loss {
	if !Inside() {
		return nil
	}
	return []Loss{NoLimits, NoUserNS, NoWholeMachine, NoRootFiles}
}

// lossWords are the words for people.
var lossWords = map[Loss]string{
	NoLimits:       "limits of memory, processors and processes are not enforced",
	NoUserNS:       `userns = "auto" is refused`,
	NoWholeMachine: "whole_machine is refused",
	NoRootFiles:    "plugs show only files that you may read",
}

// Words returns the words for losses; "" = there are none.
func Words(lost []Loss) string {
	list := make([]string, len(lost))
	for i, l := range lost {
		if list[i] = lossWords[l]; list[i] == "" {
			list[i] = string(l) // of a newer deployster
		}
	}
	return strings.Join(list, "; ")
}

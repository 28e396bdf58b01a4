package inputs

import (
	"strings"

	"deployster/internal/base/words"
)

// nouns are the words for inputs, before their names.
var nouns = map[Kind]string{Config: "config", Image: "image", Address: "address", Host: "host", Facts: "facts of its host", Env: "env",
	Setting: "setting", Plug: "plug at", Artifact: "artifact at", Dependency: "what it is given of"}

// Words returns sentences without an end about changed inputs, such as "changed since the
// last apply: env A, plug at /data".
func Words(list []Change) (sentences []string) {
	var changed []string
	for _, c := range list {
		names := words.List(c.Names, 5)
		switch c.What {
		case Pending:
			sentences = append(sentences, names+", to which it subscribes, was acted on, and it was not notified yet")
		case Notified:
			sentences = append(sentences, names+", to which it subscribes, was repaired, or is acted on by this plan")
		case Secret:
			sentences = append(sentences, "secret rotated: "+names)
		case Unfinished:
			sentences = append(sentences, "an apply began to change it and did not finish")
		case Facts:
			changed = append(changed, nouns[Facts]+" ("+names+")")
		default:
			changed = append(changed, strings.TrimSpace(nouns[c.What]+" "+names))
		}
	}
	if len(changed) > 0 {
		sentences = append([]string{"changed since the last apply: " + strings.Join(changed, ", ")}, sentences...)
	}
	return sentences
}

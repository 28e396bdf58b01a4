package answers

import (
	"strings"

	"deployster/protocol"
)

// maxFindings is how many findings about one config an answer may have.
const maxFindings = 1000

// ReadFindings parses what a type answers about a config.
func ReadFindings(answer []byte) ([]protocol.Finding, error) {
	f, err := ReadFields(answer)
	if err != nil {
		return nil, err
	}
	if !f.has("diagnostics") {
		f.Problem("\"diagnostics\" is missing; a type that finds nothing wrong answers {\"diagnostics\": []}")
	}
	list := []protocol.Finding{}
	for _, r := range f.objects("diagnostics") {
		one := protocol.Finding{Severity: protocol.FindingSeverity(r.needText("severity")), Message: r.needText("message"),
			Path: r.Text("path")}
		switch {
		case one.Severity != protocol.FindingError && one.Severity != protocol.FindingWarning:
			r.Problem("%q is %q, and must be \"error\" or \"warning\"", r.at("severity"), one.Severity)
		case max(len(one.Message), len(one.Path)) > maxPolicyText:
			r.Problem("%q has a text of more than %d bytes", r.path, maxPolicyText)
		case one.Path != "" && !strings.HasPrefix(one.Path, "/"):
			r.Problem("%q is %q, and must be a JSON pointer into the config, like /size", r.at("path"), one.Path)
		}
		r.Done()
		list = append(list, one)
	}
	if len(list) > maxFindings {
		f.Problem("\"diagnostics\" has %d entries, and must have at most %d", len(list), maxFindings)
	}
	f.Done()
	if *f.First != nil {
		return nil, *f.First
	}
	return list, nil
}

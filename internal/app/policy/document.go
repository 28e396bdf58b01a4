package policy

import (
	"encoding/json"

	"deployster/internal/app/redact"
	"deployster/internal/base/jsondoc"
	"deployster/internal/ui/events"
	"deployster/plan"
	"deployster/plan/planfile"
)

// Document returns a plan as policies see it: as `show -json` prints it, without what only names this plan, without
// what policies found, and without secrets.
func Document(p *plan.Plan, secrets *redact.Redactor) ([]byte, error) {
	bare := *p
	bare.Policies = nil
	content, err := jsondoc.Encode(planfile.NewDocument(secrets.Plan(&bare)))
	if err != nil {
		return nil, err
	}
	if hide := secrets.Hiding(); hide != nil {
		content = events.RedactDocument(content, hide)
	}
	return Bare(content)
}

// Bare returns the JSON of a plan without what only names this plan, and what policies found.
func Bare(content []byte) ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(content, &members); err != nil {
		return nil, err
	}
	for _, name := range []string{"id", "digest", "serial", "signed_by", "signatures", "policies"} {
		delete(members, name)
	}
	return jsondoc.Encode(members)
}

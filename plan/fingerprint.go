package plan

import "deployster/plan/change"

// Fingerprint returns a plan's id: the hash of its content without the id itself.
func Fingerprint(p *Plan) string {
	blank := *p
	blank.ID, blank.Resources = "", nil
	id, err := change.Digest(&blank, p.Resources)
	if err != nil {
		return "" // a plan that cannot be encoded has no id; Write reports why
	}
	return id
}

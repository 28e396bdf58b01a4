package protocol

import "deployster/protocol/internal/compare"

// reasonsOf returns the differences of a state from its config as reasons.
func reasonsOf(differences []compare.Difference) []Reason {
	var reasons []Reason
	for _, d := range differences {
		reasons = append(reasons, Reason(d))
	}
	return reasons
}

func secretReasons(changed []string, now map[string]string) []Reason {
	var reasons []Reason
	for _, pointer := range changed {
		message := "the secret at " + pointer + " has changed"
		if now[pointer] == "" {
			message = "the secret at " + pointer + " is to be removed"
		}
		reasons = append(reasons, Reason{Path: pointer, Message: message})
	}
	return reasons
}

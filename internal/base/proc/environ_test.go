package proc

import (
	"slices"
	"testing"
)

func TestWithoutSecrets_KeepsAllElse(t *testing.T) {
	t.Parallel()
	got := WithoutSecrets([]string{"PATH=/bin", "DEPLOYSTER_VAR_token=x", "DEPLOYSTER_PASSPHRASE=y", "DEPLOYSTER_PASSPHRASE_FILE=/p", "DEPLOYSTER_SSH=s"})
	if want := []string{"PATH=/bin", "DEPLOYSTER_PASSPHRASE_FILE=/p", "DEPLOYSTER_SSH=s"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

package workspace

import "testing"

// The URL of the run comes from the variables of the CI, without what may be a secret.
func TestAuthor_RunOfACI(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env  map[string]string
		want string
	}{
		"none":   {nil, ""},
		"GitHub": {map[string]string{"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "acme/site", "GITHUB_RUN_ID": "7"}, "https://github.com/acme/site/actions/runs/7"},
		"GitLab": {map[string]string{"CI_JOB_URL": "https://gitlab.example.com/a/-/jobs/3"}, "https://gitlab.example.com/a/-/jobs/3"},
		"Jenkins": {map[string]string{"BUILD_URL": "http://ann:secret@ci.example.com/job/site/5/?token=secret#secret"},
			"http://ci.example.com/job/site/5/"},
		"another": {map[string]string{RunURL: "https://ci.example.com/1", "BUILD_URL": "https://other.example.com"}, "https://ci.example.com/1"},
		"no URL":  {map[string]string{RunURL: "javascript:alert(1)"}, ""},
	} {
		if got := Author(func(name string) string { return c.env[name] }).CI; got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// By sudo both users are named.
func TestAuthor_UserOfSudo(t *testing.T) {
	t.Parallel()
	env := map[string]string{}
	name := Author(func(name string) string { return env[name] }).User
	env["SUDO_USER"] = "ann"
	if got, want := Author(func(name string) string { return env[name] }).User, "ann as "+name; name == "" || got != want {
		t.Errorf("got %q and %q", name, got)
	}
}

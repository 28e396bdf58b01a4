package e2e

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write what the scripts' commands print into their golden files")

// TestScripts_Pass runs the stories in testdata/script, each with the real command,
// real containers and a data directory of its own. Besides the usual commands
// they have:
//
//	thing NAME [polish]     pack testdata/types/thing as the image NAME; polish: to make one takes two actions
//	note NAME               the same with testdata/types/note
//	shelltype NAME DIR      pack DIR with busybox beside its files, and /type as its entrypoint
//	exits CODE COMMAND...   run COMMAND, which must end with that exit code
//	wait-for FILE [TEXT]    wait until FILE exists (and holds TEXT), 90 seconds at the most
//	no-containers           nothing of any run is left
//	archive KIND FILE NAME DIR [CONFIG]
//	                        make what docker saves (docker) or an OCI layout (oci) of DIR, with a container config
//	on-terminal CODE ANSWER COMMAND...
//	                        run COMMAND on a terminal, answer its question or prompt; what stood there is in the file "terminal"
//	daemon                  start Debian's containerd: DAEMON_ADDRESS, DAEMON_PID
//	daemon-clean NAMESPACE  nothing of any run is left in that daemon
//	socket FILE             a unix socket that nobody listens at
//	nowhere TEXT...         the texts are in nothing that is kept, and in no process
//	canary prepare          pack types that show a secret in each form and place, and give it as a variable
//	canary run CODE COMMAND...
//	                        run COMMAND as exits does, and keep what it prints for the search
//	canary make CODE COMMAND...
//	                        the same, where a type prints a secret that it has just generated
//	canary nowhere [EXCEPT...]
//	                        no file, data directory, host, store and process shows a secret in any form
//	sshd                    start an sshd for hosts on loopback: SSH_PORT, SSH_KEY, SSH_HOST_KEY, HOSTS
//	nobody                  the command is that of the user nobody from here on, with ssh alone on the PATH
//	person                  the command is that of a user who is made for it from here on, with subordinate ids
//	git-daemon DIR          serve the git repositories in DIR on loopback, and take pushes: GIT is where
//	registry [password|token] [tls]
//	                        start a registry behind a door of ours: REGISTRY, REGISTRY_CA, REGISTRY_LOG
//	push NAME:TAG DIR [CONFIG [index]]
//	                        put an image of DIR into it, with busybox if it has a type: PUSHED is its digest
//	disturb [TROUBLE...]    cut=BYTES gone busy=TIMES evil deny: what the door does from now on
//	keypair NAME [ed25519]  make NAME.key and NAME.pub, for signatures
//	sign REPOSITORY DIGEST KEY [as=REPOSITORY] [of=DIGEST] [cut] [prehashed] [bundle]
//	                        put a signature of an image into the registry, right or wrong
//	expand FROM TO          copy a file, with the variables of the script in it
//	probe NAME              build and pack testdata/types/probe, whose state is what it sees of its container
//	service NAME            the same with testdata/types/service, a type with what may be left out and a secret
//	json-schema NAME FILE   FILE matches docs/schemas/NAME.json
//	notify-socket FILE      listen as systemd does: NOTIFY_SOCKET; a line of FILE is a message
//	documented STREAM       a stream of events is the example of docs/json.md
//	same-digest FILE FILE   two outputs of image pack or import name one image
func TestScripts_Pass(t *testing.T) {
	t.Parallel()
	runScripts(t, "testdata/script", nil)
}

// isLong is the condition of scripts that `make test-long` runs and `make test` skips, which has 20 minutes.
func isLong(condition string) (bool, error) {
	if condition != "long" {
		return false, fmt.Errorf("the condition %q is not known", condition)
	}
	return os.Getenv("DEPLOYSTER_LONG") != "", nil
}

func runScripts(t *testing.T, dir string, setup func(*testscript.Env) error) {
	p := params(moduleRoot(t), setup)
	p.Dir = dir
	testscript.Run(t, p)
}

// moduleRoot returns the directory in which the process is, and changes to it: go test, which
// caches results, has not seen that newSuite did, and would look for the files elsewhere.
func moduleRoot(t *testing.T) string {
	t.Helper()
	root, err := os.Getwd()
	if err == nil {
		err = os.Chdir(root)
	}
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// params are how scripts are run, and what they know.
func params(root string, setup func(*testscript.Env) error) testscript.Params {
	return testscript.Params{
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Condition:           isLong,
		Setup: func(env *testscript.Env) error {
			if err := isolate(env, root); err != nil || setup == nil {
				return err
			}
			return setup(env)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"thing":         packKept("thing"),
			"note":          packKept("note"),
			"shelltype":     packShellType,
			"exits":         exits,
			"excerpt":       checkExcerpt,
			"wait-for":      waitFor,
			"no-containers": noContainers,
			"archive":       makeArchive,
			"same-digest":   sameDigest,
			"documented":    documented,
			"json-schema":   matchSchema,
			"on-terminal":   onTerminal,
			"daemon":        startDaemon,
			"sshd":          startSSHD,
			"git-daemon":    startGit,
			"git-http":      startGitHTTP,
			"daemon-clean":  daemonClean,
			"socket":        leaveSocket,
			"nowhere":       nowhere,
			"on-no-disk":    onNoDisk,
			"canary":        canary,
			"registry":      startRegistry,
			"vault":         startVault,
			"push":          pushImage,
			"disturb":       disturb,
			"expand":        expand,
			"probe":         (&goType{name: "probe"}).pack,
			"service":       (&goType{name: "service"}).pack,
			"shelf":         (&goType{name: "shelf"}).pack,
			"ticket":        (&goType{name: "ticket"}).pack,
			"provider":      buildProvider,
			"keypair":       makeKeys,
			"sign":          signImage,
			"machine":       onMachine,
			"small-disk":    mountSmallDisk,
			"server":        startServer,
			"network":       setNetwork,
			"files":         serveFiles,
			"hooks":         listenForHooks,
			"mails":         listenForMail,
			"notify-socket": listenForNotes,
			"nobody":        becomeNobody,
			"cluster":       startCluster,
			"editor":        asEditor,
			"person":        becomePerson,
		},
	}
}

// isolate gives a script its own data directory, home and binaries, and makes
// sure that nothing outlives it.
func isolate(env *testscript.Env, root string) error {
	data, err := os.MkdirTemp("", "dt")
	if err != nil {
		return err
	}
	env.Setenv("DEPLOYSTER_DATA_DIR", data)
	env.Setenv("DEPLOYSTER_IDLE_EXIT", "3s")
	env.Setenv("DEPLOYSTER_KEEP", "6s") // long enough for the next command on a slow machine, and short for who waits until nothing is left
	env.Setenv("DEPLOYSTER_RUNC", safeRunc(root))
	env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
	env.Setenv("ROOT", root)
	env.Values[registryKey{}] = &registry{}
	env.Values[gitHTTPKey{}] = new(func())
	if err := noRegistries(env); err != nil {
		return err
	}
	env.Setenv(printedDir, filepath.Join(env.WorkDir, ".printed"))
	if err := os.Mkdir(env.Getenv(printedDir), 0o700); err != nil {
		return err
	}
	e := &ending{t: env.T(), work: env.WorkDir, data: []string{data}}
	env.Values[endingKey{}] = e
	e.check(env, func() error { return checkPrinted(env.WorkDir) })
	e.check(env, func() error {
		_, err := checkMessages(env.WorkDir)
		return err
	})
	e.check(env, func() error { return removeData(data) })
	env.Defer(func() { tellServerLog(env, data) })
	env.Defer(e.end) // the last one comes first
	return nil
}

// tellServerLog shows what the embedded containerd said, when a script has failed.
func tellServerLog(env *testscript.Env, data string) {
	if !failed(env.T()) {
		return
	}
	if said, err := os.ReadFile(filepath.Join(data, "server.log")); err == nil {
		env.T().Log("the server's log:\n" + string(said))
	}
}

// noRegistries keeps a script from asking anybody outside of this machine: the
// registry of names without one is a port where nobody listens.
func noRegistries(env *testscript.Env) error {
	certs := filepath.Join(env.WorkDir, ".certs")
	env.Setenv("DEPLOYSTER_CERTS_DIR", certs)
	env.Setenv("CERTS", certs)
	if err := os.MkdirAll(filepath.Join(certs, "docker.io"), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(certs, "docker.io", "hosts.toml"), []byte("server = \"http://127.0.0.1:1\"\n"), 0o644)
}

// safeRunc is the one that `make test` has built, if it had to.
func safeRunc(root string) string {
	if path := filepath.Join(root, "bin", "runc"); exists(path) {
		return path
	}
	return ""
}

# Files of another place, each version by its name: the image demo/greeting lists versions,
# and fetches one of them; the type demo/copy puts its files into the directory www. Run:
#
#   chmod +x greeting/check greeting/in
#   deployster image pack -t demo/greeting -shell -add greeting:/opt/resource -entrypoint /bin/sh
#   deployster image pack -t demo/copy -shell type.sh
#   deployster plan -out=plan.bin
#   deployster apply plan.bin
#
# Then change the text below and plan again: the plan shows both versions, and the update.

artifact "page" {
  type   = "demo/greeting"
  source = { text = "hello" } # what the scripts check and in read
}

# What the type gets as its plug "files", read-only.
plug "files" {
  artifact = artifact.page
}

# The directory of this machine that the type may write to.
plug "www" {
  path = "./www"
}

resource "site" {
  type   = "demo/copy"
  config = { name = "site" }
}

output "version" {
  value = artifact.page.version.ref
}

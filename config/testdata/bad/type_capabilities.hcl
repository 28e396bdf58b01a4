type "t" {
  image = "a/b"
  capabilities = ["net_admin"]
}
# error 3:18 Invalid capabilities

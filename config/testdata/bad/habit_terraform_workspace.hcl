# error 4:11 no workspaces

output "id" {
  value = terraform.workspace
}

from atr_client.cli.app import main

main()

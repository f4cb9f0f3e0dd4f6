#!/usr/bin/env node
// The same program: kubectl finds it by this name when somebody writes "kubectl tapfix".
import './tapfix.js';
